"""Explanations as values, in words, and as text and Markdown; `foretime.explain` makes them."""
