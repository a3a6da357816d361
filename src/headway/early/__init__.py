"""What can we say already? Exact answers over growing samples of stored data (seed 004)."""
