"""`headway bench`: run one of the benchmarks by name, and print its figures."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import headway.benches
from headway.benches.options import BenchOptions
from headway.cli.options import REPORT_FOLDER, Json
from headway.cli.outcome import UsedWrongly


def bench(
    name: Annotated[str | None, typer.Argument(help="Which benchmark; see --list.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say which benchmarks there are.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version, in a minute.")] = False,
    times: Annotated[int | None, typer.Option(min=1, help="How often a thing is done.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="How often all is measured.")] = None,
    seed: Annotated[int, typer.Option(help="What chance is drawn from.")] = 0,
    full: Annotated[bool, typer.Option("--full", help="Everything, which may take long.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder with real data, where a benchmark takes some.")
    ] = None,
    report: Annotated[Path, typer.Option(help="Folder for what it writes.")] = REPORT_FOLDER,
    as_json: Json = False,
) -> None:
    """Run a benchmark; the last line on stdout is one JSON object with its figures."""
    if listed:
        print_list(benchmarks(), as_json=as_json)
        return
    chosen = benchmark(name)
    if data is not None and not getattr(chosen, "TAKES_DATA", False):
        raise UsedWrongly(f"the benchmark {name} makes its own data; leave out --data")
    figures = chosen.run(BenchOptions(quick, times, repeats, report, seed, full, data))
    if not as_json:
        Console(stderr=True).print(figures_table(str(chosen.SENTENCE), figures))
    print(json.dumps(figures))


def benchmarks() -> dict[str, ModuleType]:
    """The modules of `headway.benches` that have a SENTENCE and a run function, by name."""
    found = {}
    for info in pkgutil.walk_packages(headway.benches.__path__, "headway.benches."):
        module = importlib.import_module(info.name)
        if hasattr(module, "SENTENCE") and hasattr(module, "run"):
            found[info.name.rpartition(".")[2]] = module
    return dict(sorted(found.items()))


def benchmark(name: str | None) -> ModuleType:
    """The benchmark of that name."""
    known = benchmarks()
    name = name.replace("-", "_") if name is not None else None
    if name is None or name not in known:
        names = ", ".join(known) or "none yet"
        wrong = "name a benchmark" if name is None else f"there is no benchmark {name!r}"
        raise UsedWrongly(
            f"{wrong}; there are: {names}. `headway bench --list` says what each does"
        )
    return known[name]


def print_list(known: dict[str, ModuleType], *, as_json: bool) -> None:
    """Print each benchmark with what it measures."""
    sentences = {name: str(module.SENTENCE) for name, module in known.items()}
    if as_json:
        print(json.dumps(sentences))
        return
    width = max(map(len, sentences), default=0)
    for name, sentence in sentences.items():
        print(f"{name:<{width}}  {sentence}")


def figures_table(sentence: str, figures: dict[str, Any]) -> Table:
    """The figures of a benchmark for people, nested ones by their whole name."""
    table = Table(title=Text(sentence), title_justify="left", show_header=False)
    for name, value in flat(figures).items():
        shown = f"{value:,.6g}" if isinstance(value, float) else str(value)
        table.add_row(Text(name), Text(shown))
    return table


def flat(figures: dict[str, Any], within: str = "") -> dict[str, Any]:
    """Nested figures as one level.

    >>> flat({"a": {"p50": 1, "p99": 2}, "b": 3})
    {'a.p50': 1, 'a.p99': 2, 'b': 3}
    """
    found: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, dict):
            found |= flat(value, f"{within}{name}.")
        else:
            found[f"{within}{name}"] = value
    return found
