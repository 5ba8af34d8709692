"""Faults on purpose: processes that are killed, disks that fail, and run folders that are damaged."""
