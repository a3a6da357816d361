"""Kafka, with a real broker."""
