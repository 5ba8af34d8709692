"""Runs: folders that are created, trained in, finished, loaded, and trained further."""
