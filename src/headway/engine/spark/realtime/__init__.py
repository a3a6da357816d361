"""The second compilation of a flow: Spark's real-time mode, from a topic of Kafka's to another."""
