"""Damaged data and hostile requests, made by the hundred thousand."""
