"""Names in, ranked names and their reasons out."""
