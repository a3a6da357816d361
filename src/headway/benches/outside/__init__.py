"""Jobs that are watched from outside: alone, in turns, and side by side."""
