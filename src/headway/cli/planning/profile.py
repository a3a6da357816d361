"""`headway profile`: learn what a flow costs on this machine, for the planner."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from headway.cli.options import Json, seconds_or_none
from headway.cli.outcome import UsedWrongly, say
from headway.cli.running.flow_file import load_flow
from headway.cli.running.spark_output import spark_output_to
from headway.engine.spark.learning.profiling import LEAST_BATCHES, profile_flow
from headway.engine.spark.learning.trial import Trial
from headway.engine.spark.settings import Settings
from headway.measure.costs.batches import driver_of
from headway.measure.costs.machine import MachineProfile, machine_profile
from headway.measure.costs.profile import PROFILES, JobProfile
from headway.measure.costs.stores import STORE_NAMES
from headway.units import format_duration

LONGEST_S = 300.0
SIZES = (100, 10_000)


def profile(
    file: Annotated[str, typer.Argument(help="FILE.py, or FILE.py:name of the flow in it.")],
    length: Annotated[str, typer.Option("--for", help="How long, 5min at most.")] = "60s",
    to: Annotated[Path | None, typer.Option(help="The file to write.")] = None,
    master: Annotated[str | None, typer.Option(help="Spark's master, such as local[2].")] = None,
    as_json: Json = False,
) -> None:
    """Run a flow with batches of many sizes, answers to nobody, and keep what it costs.

    A flow from Kafka to Kafka is tried in real-time mode, too, with topics of the trial's own.
    """
    seconds = seconds_or_none(length, "--for") or 60.0
    if seconds > LONGEST_S:
        raise UsedWrongly(f"--for is 5min at most; got {length!r}")
    flow = load_flow(file)
    settings = Settings() if master is None else Settings(master=master)
    stderr = Console(stderr=True)
    machine = machine_profile(PROFILES / "machine.json", PROFILES)
    say(stderr, "starting Spark ...")
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        TemporaryDirectory(prefix="headway-") as place,
        Progress(*columns, console=stderr, disable=not stderr.is_terminal) as bar,
    ):
        task = bar.add_task("profile", total=seconds)
        trial = Trial(
            seconds,
            settings,
            Path(place) / "run",
            lambda gone, note: bar.update(task, completed=gone, description=f"profile: {note}"),
            lambda why: say(stderr, why),
        )
        with spark_output_to(PROFILES):
            found = profile_flow(flow, trial)
    check_taught(found)
    path = found.save(to or PROFILES / f"{flow.fingerprint}.json")
    if as_json:
        print(json.dumps({"profile": str(path), "machine": asdict(machine), **costs(found)}))
        return
    show(found, machine, path)


def check_taught(found: JobProfile) -> None:
    """Refuse a profile that would promise anything: of no records, or of batches all alike."""
    if found.empty:
        raise UsedWrongly("the flow had no records to learn from; give it some, or more time")
    batches = found.batch.batches
    if batches < LEAST_BATCHES and not found.stream.stretches:
        raise UsedWrongly(
            f"only {batches} batches could be tried after the first ones, of "
            f"{found.batch.records:,} records in all, which does not tell what more records cost; "
            "give the flow more of them (some 200,000 are enough), or more time with --for"
        )


def costs(found: JobProfile) -> dict[str, object]:
    """The main figures by name."""
    batch = found.batch
    return {
        "batches": batch.batches,
        "records": batch.records,
        "batch_s": {str(size): round(found.batch_s(size), 4) for size in SIZES},
        "phases": {
            name: {"fixed_s": fit.line[0], "each_s": fit.line[1]}
            for name, fit in batch.phases_s.items()
        },
        "stores": {
            store: round(found.batch_s(SIZES[1], store=store), 4) for store in batch.kept_s.known
        },
        "keys": {str(size): round(batch.keys.at(size), 1) for size in SIZES},
        "answers_per_record": round(batch.answers.at(SIZES[1]) / SIZES[1], 4),
        "real_time": [
            {
                "rate_per_s": round(each.rate_per_s),
                "phases_s": each.phases_s,
                "pause_s": each.pause_s,
                "cpu_s": each.map_cpu_s + each.reduce_cpu_s,
            }
            for each in found.stream.stretches
        ],
    }


def show(found: JobProfile, machine: MachineProfile, path: Path) -> None:
    """Print a profile for people."""
    console = Console()
    table = Table("phase", "fixed", "per million", "of")
    for name, fit in found.batch.phases_s.items():
        fixed, each = fit.line
        costs_s = (format_duration(round(s, 4)) for s in (fixed, each * 1e6))
        table.add_row(name, *costs_s, driver_of(name))
    console.print(table)
    for store in found.batch.kept_s.known:
        took = format_duration(round(found.batch_s(SIZES[1], store=store), 3))
        say(console, f"states in {STORE_NAMES[store]}: a batch of {SIZES[1]:,} takes {took}")
    for stretch in found.stream.stretches:
        passing = format_duration(round(sum(stretch.phases_s.values()), 4))
        say(
            console,
            f"real-time mode at {stretch.rate_per_s:,.0f} records/s: {passing} each, and a pause "
            f"of {format_duration(round(stretch.pause_s, 3))} at a checkpoint",
        )
    small, large = (format_duration(round(found.batch_s(size), 3)) for size in SIZES)
    say(console, f"{found.batch.batches:,} batches, {found.batch.records:,} records")
    say(console, f"a batch of {SIZES[0]:,} takes {small}, one of {SIZES[1]:,} {large}")
    say(
        console,
        f"this machine: {machine.cores} cores, worth {machine.scaling:g} together; a durable write "
        f"takes {format_duration(machine.fsync_s)}",
    )
    say(console, f"kept in {path}")
