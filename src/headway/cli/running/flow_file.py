"""Find the flow in a Python file, named on the command line as FILE.py or FILE.py:name."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from headway.cli.outcome import UsedWrongly
from headway.errors import HeadwayError, RunError
from headway.flow.graph import Flow
from headway.flow.stream import Stream


def load_flow(text: str) -> Flow:
    """The flow of FILE.py, or the one called `name` in FILE.py:name.

    A stream without a sink ends on the console; a function is called to make the flow.
    """
    path, name = split_name(text)
    if not path.is_file():
        raise UsedWrongly(f"there is no file {str(path)!r}; name a Python file that makes a flow")
    module = load_module(path)
    if name is not None:
        return named_flow(module, name, path)
    found = flows_in(module)
    if not found:
        raise UsedWrongly(
            f"{path.name} makes no flow; give it one at the top level, such as "
            "flow = headway.replay(...).reduce(...).to('console')"
        )
    if len(found) > 1:
        names = ", ".join(sorted(found))
        first = sorted(found)[0]
        raise UsedWrongly(
            f"{path.name} makes several flows ({names}); name the one to run as "
            f"{path}:{first}, or make one of them with +"
        )
    return named_flow(module, next(iter(found)), path)


def split_name(text: str) -> tuple[Path, str | None]:
    """A file and the name behind it, if there is one.

    >>> split_name("flows/words.py:counts")[1], split_name("words.py")[1]
    ('counts', None)
    """
    before, colon, name = text.rpartition(":")
    if colon and before.endswith(".py") and name:
        return Path(before), name
    return Path(text), None


def load_module(path: Path) -> ModuleType:
    """Run a file as a module of its own; it may import its neighbours, as under plain Python."""
    if path.suffix != ".py":
        raise UsedWrongly(f"{path.name!r} is not a Python file; name one that ends in .py")
    # Under a name of ours, so that a file called json.py does not stand in for Python's own.
    spec = importlib.util.spec_from_file_location(f"headway_flow_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # Last, so that no neighbour called json.py stands in for Python's own either, here or in a
        # process that is started with this path.
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except HeadwayError:
        raise
    except Exception as error:
        where = place_in(error, path)
        raise RunError(
            f"{path.name} raised {type(error).__name__} while it was loaded{where}: {error}"
        ) from error
    return module


def place_in(error: BaseException, path: Path) -> str:
    """The last line of a file that an error came through."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f", line {lines[-1]}" if lines else ""


def flows_in(module: ModuleType) -> dict[str, Any]:
    """What could be meant: flows, or else functions that say they make one, or else streams."""
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    tests: tuple[Callable[[Any], bool], ...] = (
        lambda value: isinstance(value, Flow),
        lambda value: makes_flow(value, module),
        lambda value: isinstance(value, Stream),
    )
    for test in tests:
        found = {name: value for name, value in public.items() if test(value)}
        if found:
            # Two names for one flow are one flow.
            return {
                name: value for value, name in {id(v): (v, n) for n, v in found.items()}.values()
            }
    return {}


def makes_flow(value: Any, module: ModuleType) -> bool:
    """Whether a value is a function of the module itself that is declared to return a flow."""
    if not inspect.isfunction(value) or value.__module__ != module.__name__:
        return False
    declared = inspect.signature(value).return_annotation
    return declared is Flow or (isinstance(declared, str) and declared.split(".")[-1] == "Flow")


def named_flow(module: ModuleType, name: str, path: Path) -> Flow:
    """The flow that a name of the module stands for."""
    if not hasattr(module, name):
        known = ", ".join(sorted(flows_in(module))) or "none"
        raise UsedWrongly(f"{path.name} has nothing called {name!r}; its flows are: {known}")
    value = getattr(module, name)
    if callable(value) and not isinstance(value, Flow | Stream):
        value = called(value, name, path)
    if isinstance(value, Stream):
        return value.to("console")
    if not isinstance(value, Flow):
        raise UsedWrongly(
            f"{name!r} in {path.name} is a {type(value).__name__}, not a flow; end it with .to(...)"
        )
    return value


def called(make: Callable[..., Any], name: str, path: Path) -> Any:
    """What a function without arguments returns."""
    try:
        inspect.signature(make).bind()
    except (TypeError, ValueError):
        raise UsedWrongly(
            f"{name!r} in {path.name} needs arguments; name a flow, or a function that needs none"
        ) from None
    return make()
