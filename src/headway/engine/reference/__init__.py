"""What is right? Any flow in plain Python, one record at a time: the measure of the others."""
