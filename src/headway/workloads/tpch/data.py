"""TPC-H's tables at any scale, made by the generator that its community keeps."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from headway.errors import HeadwayError

TABLES = (
    "lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region",
)  # fmt: skip
GENERATOR = "tpchgen-cli"


def make_tables(folder: Path, scale: float) -> dict[str, Path]:
    """Parquet files of all tables; those that are there already are taken as they are."""
    done = folder / "complete"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [generator(), "parquet", "-s", f"{scale:g}", f"--output-dir={folder}"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise HeadwayError(f"{GENERATOR} failed: {made.stderr.strip()[-500:]}")
        done.touch()
    return {name: folder / f"{name}.parquet" for name in TABLES}


def generator() -> str:
    """Where the generator is: beside this Python, or on the path."""
    beside = Path(sys.executable).parent / GENERATOR
    found = str(beside) if beside.exists() else shutil.which(GENERATOR)
    if found is None:
        raise HeadwayError(
            f"{GENERATOR} makes TPC-H's tables and is not installed; "
            f"install it with: {sys.executable} -m pip install {GENERATOR}"
        )
    return found
