"""Training: batches of questions in, the weights of the best epoch out."""
