"""Answers that are kept: on disk chunk by chunk, and only beside the data they are of."""
