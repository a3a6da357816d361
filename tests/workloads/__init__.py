"""Tests of the ready-made workloads; none of them starts Spark."""
