"""What happened to a batch: progress events, stages and sinks, made into a line of the log."""
