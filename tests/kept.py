"""Answers kept in files: what is asked stands above a line, what was answered below it.

HEADWAY_GOLDEN=write writes the answers anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

LINE = "-" * 40


def compare_with_kept(file: Path, answer: Callable[[dict[str, str]], str]) -> None:
    """Answer what a file asks, and hold it against what the file keeps."""
    above, _, below = file.read_text().partition(f"{LINE}\n")
    found = answer(dict(line.split(": ", 1) for line in above.splitlines() if line))
    if os.environ.get("HEADWAY_GOLDEN") == "write":
        file.write_text(f"{above}{LINE}\n{found}")
        return
    assert found == below
