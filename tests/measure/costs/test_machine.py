"""A machine is measured once, and again when it is another one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from headway.measure.costs.machine import MachineProfile, machine_profile, measure_machine


def test_a_machine_is_measured(tmp_path: Path) -> None:
    found = measure_machine(tmp_path)
    assert 10 < found.cpu_mb_per_s < 100_000
    assert 0.3 < found.scaling <= found.cores * 1.5
    assert 0 < found.fsync_s < 5
    assert 0 < found.loopback_s < 0.1
    assert found.loopback_mb_per_s > 10
    assert found.disk_mb_per_s > 0.1
    assert list(tmp_path.iterdir()) == []


def test_what_was_measured_is_kept_until_the_machine_is_another(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    first = machine_profile(path, tmp_path)
    marked = replace(first, fsync_s=42.0)
    marked.save(path)
    assert machine_profile(path, tmp_path) == marked
    replace(first, host="elsewhere", fsync_s=42.0).save(path)
    assert machine_profile(path, tmp_path).fsync_s < 42.0
    assert MachineProfile(**json.loads(path.read_text())).host == first.host
