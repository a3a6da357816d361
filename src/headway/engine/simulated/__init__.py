"""A flow on a cluster that is not there: events on a virtual clock, costs from a real profile."""
