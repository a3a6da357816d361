"""Early answers on Spark: annotate stored data, and answer at every point from it."""
