"""What can we say already? Exact answers over growing samples of stored data (paper 5)."""
