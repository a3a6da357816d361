"""What does each named function do? One table for each subject, joined in the catalogue."""
