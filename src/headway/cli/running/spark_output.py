"""Keep what Spark's JVM prints away from the terminal: it goes to a file that can be read later."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.errors import HeadwayError, SessionError

LOG_FILE = "spark.log"
SHOWN_LINES = 5


@contextmanager
def spark_output_to(folder: Path) -> Iterator[None]:
    """Processes started in this block write their errors to spark.log in the folder, for good.

    An error that is not one of ours gains the last lines of that file, since they say why.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOG_FILE
    sys.stderr.flush()
    kept = os.dup(2)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    except HeadwayError:
        raise
    except Exception as error:
        raise SessionError(
            f"Spark did not start: {error}\n{last_lines(path)}\nAll that it said is in {path}."
        ) from error
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def last_lines(path: Path) -> str:
    """The end of a text file, moved in."""
    lines = path.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
    return "\n".join(f"  {line}" for line in lines)
