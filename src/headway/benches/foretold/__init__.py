"""What the model foretells, held against what Spark does."""
