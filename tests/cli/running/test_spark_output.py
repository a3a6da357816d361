"""What a started process prints goes to the file; what goes wrong is told with its last lines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from headway.cli.running.spark_output import spark_output_to
from headway.errors import FlowError, SessionError


def test_a_process_started_inside_writes_to_the_file(tmp_path: Path) -> None:
    with spark_output_to(tmp_path / "run"):
        subprocess.run(["sh", "-c", "echo noise >&2"], check=True)
    assert (tmp_path / "run" / "spark.log").read_text() == "noise\n"


def test_afterwards_errors_go_where_they_went(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with spark_output_to(tmp_path):
        os.write(2, b"inside\n")
    os.write(2, b"outside\n")
    assert capfd.readouterr().err == "outside\n"


def fail_to_start(folder: Path) -> None:
    with spark_output_to(folder):
        os.write(2, b"no Java here\n")
        raise RuntimeError("no gateway")


def test_an_error_that_is_not_ours_tells_what_the_process_said(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="no gateway\n  no Java here\n"):
        fail_to_start(tmp_path)


def test_an_error_of_ours_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(FlowError), spark_output_to(tmp_path):
        raise FlowError("x")
