"""Who is asking? The command line: one file per command, results on stdout, progress on stderr."""
