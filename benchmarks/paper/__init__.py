"""What prints the tables of the paper and the audit of its figure."""
