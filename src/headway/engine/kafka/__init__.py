"""Kafka: topics behind the gate, answers out exactly once, and producers."""
