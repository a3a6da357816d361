"""How early answers are proved right and timed: what benchmarks and tests share."""
