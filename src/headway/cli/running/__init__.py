"""From what a command wants to the result that it tells: a run started, followed and finished."""
