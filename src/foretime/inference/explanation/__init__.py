"""Explanations as values, in words, and as text and Markdown; `foretime.inference.explainer` makes them."""
