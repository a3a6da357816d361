"""How each operator is computed at every point at once: one rule or a few, in one file each."""
