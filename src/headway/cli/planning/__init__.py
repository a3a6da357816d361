"""Commands that say what a flow is, costs, and how it would best run."""
