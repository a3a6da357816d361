"""The page of a question: how its answers converged, and when each was there."""
