"""What happened to a batch: progress events, stages and sinks, put together to a line of the log."""
