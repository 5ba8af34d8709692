"""Many trainings: lists of runs, and settings chosen from ranges."""
