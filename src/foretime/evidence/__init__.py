"""Evidence: grounded rules that score candidates, and the reasons that they give."""
