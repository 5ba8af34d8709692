"""What the re-ranker knows of a candidate: its features."""
