"""Benchmarks and the tables of the paper: not part of the package; run from the root of the repository."""
