"""What does an expression mean? Spark's SQL in ANSI mode, evaluated on one record at a time."""
