"""What is kept on disk: how tables lie in files, what they hold, and answers chunk by chunk."""
