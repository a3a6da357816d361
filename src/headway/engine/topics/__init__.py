"""Topics opened for reading: how far records have arrived, and the records themselves."""
