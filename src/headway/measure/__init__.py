"""What is happening? Latencies, accounts and the log of batches."""
