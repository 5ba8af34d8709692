"""Benchmarks: declared lists of runs, their results beside published figures, and an audit of one such figure."""
