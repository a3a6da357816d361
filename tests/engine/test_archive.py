"""Spark's classes shared by JVMs: used where they fit, passed over in silence where not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from headway.engine.archive import QUIET, VARIABLE, archive_path, java_options


def test_without_an_archive_a_jvm_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "not there"))
    assert java_options() == ""
    monkeypatch.setenv(VARIABLE, "none")
    assert archive_path() is None
    assert java_options() == ""


def test_an_archive_that_does_not_fit_is_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "spark.jsa"
    broken.write_bytes(b"no archive at all" * 1000)
    monkeypatch.setenv(VARIABLE, str(broken))
    assert java_options() == f"-XX:SharedArchiveFile={broken} {QUIET}"
    done = subprocess.run(
        ["java", *java_options().split(), "-version"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
