"""What does it cost? A job, phase by phase, and what the machine under it can do."""
