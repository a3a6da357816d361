"""What users already run: flows from their own streaming DataFrames, and queries of their own."""
