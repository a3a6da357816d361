"""What would it take? The latency of one candidate plan, foretold from a job's profile."""
