"""Who is watching? A report as one file and a live view, both drawn from the log of batches."""
