"""Models of the open predicate, of the open time, and of the first of two open slots."""
