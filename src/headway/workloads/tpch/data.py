"""TPC-H's tables at any scale, made by the generator that its community keeps."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from headway.errors import HeadwayError

TABLES = (
    "lineitem", "orders", "customer", "part", "partsupp", "supplier", "nation", "region",
)  # fmt: skip
GENERATOR = "tpchgen-cli"


def make_tables(folder: Path, scale: float, wanted: Sequence[str] = TABLES) -> dict[str, Path]:
    """Parquet files of tables; those that are there already are taken as they are."""
    done = {name: folder / f"{name}.complete" for name in wanted}
    if missing := [name for name, mark in done.items() if not mark.exists()]:
        folder.mkdir(parents=True, exist_ok=True)
        command = [generator(), "parquet", "-s", f"{scale:g}", f"--output-dir={folder}"]
        command += [f"--tables={','.join(missing)}"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise HeadwayError(f"{GENERATOR} failed: {made.stderr.strip()[-500:]}")
        for name in missing:
            done[name].touch()
    return {name: folder / f"{name}.parquet" for name in wanted}


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
