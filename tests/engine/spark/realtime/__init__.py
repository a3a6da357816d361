"""Tests of real-time mode that need no Spark."""
