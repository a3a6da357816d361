"""How fast, how late, how exact? A module per benchmark, with a SENTENCE and a run function."""
