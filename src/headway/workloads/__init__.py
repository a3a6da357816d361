"""What shall we run? Ready-made flows that the demo, the tests and the benchmarks share."""
