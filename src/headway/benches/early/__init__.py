"""Benchmarks of early answers: exactness, time, memory, convergence and stages."""
