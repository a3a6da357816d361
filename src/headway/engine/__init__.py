"""Who does the work? Three engines with one contract."""
