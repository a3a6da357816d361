"""Which columns does a record have: declared, seen in a file, or told by a schema."""
