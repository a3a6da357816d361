"""Questions that feed each other: stages of one pipeline, handing over chunk by chunk."""
