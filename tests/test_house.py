"""The rules of the house: imports point down, sizes stay small, every file says why it exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import headway

SRC = Path(headway.__file__).parent
FILES = sorted(SRC.rglob("*.py"))
FLOORS = [
    "errors units clock",
    "flow measure",
    "model",
    "plan",
    "keep",
    "wide early",
    "engine",
    "workloads",
    "dashboard testing",
    "benches",
    "cli",
]
FLOOR_OF = {room: n for n, rooms in enumerate(FLOORS) for room in rooms.split()}
LARGEST_FILE, LARGEST_FUNCTION, MOST_PARAMETERS, LARGEST_CLASS, MOST_FILES = 400, 40, 5, 200, 12
FRONT_DOOR = 15


def name_of(file: Path) -> str:
    return str(file.relative_to(SRC))


def room_of(file: Path) -> str:
    return file.relative_to(SRC).parts[0].removesuffix(".py")


def imported_by(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_room_imports_only_from_the_floors_below(file: Path) -> None:
    room = room_of(file)
    if room == "__init__":
        return
    for name in imported_by(file):
        package, _, inner = name.partition(".")
        if package == "headway" and inner:
            target = inner.partition(".")[0]
            below = FLOOR_OF.get(target, 99) < FLOOR_OF[room]
            assert below or target == room, f"{room} imports {target}"
        assert package != "pyspark" or room == "engine", f"{room} imports pyspark"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_every_module_opens_with_the_sentence_that_justifies_it(file: Path) -> None:
    reason = ast.get_docstring(ast.parse(file.read_text()))
    assert reason, "no docstring"
    assert reason.splitlines()[0].rstrip()[-1] in ".?", reason.splitlines()[0]


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_files_functions_and_classes_stay_small(file: Path) -> None:
    text = file.read_text()
    assert len(text.splitlines()) <= LARGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert body_lines(node) <= LARGEST_FUNCTION, f"{node.name} is long"
            assert len(own_parameters(node)) <= MOST_PARAMETERS, f"{node.name} takes many"
        if isinstance(node, ast.ClassDef):
            assert (node.end_lineno or 0) - node.lineno <= LARGEST_CLASS, f"{node.name} is long"


def body_lines(function: ast.FunctionDef) -> int:
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def own_parameters(function: ast.FunctionDef) -> list[str]:
    # Keyword-only parameters read aloud at the call; those by position are what confuses.
    # A command's parameters are its options on the command line.
    if any(
        isinstance(found, ast.Name) and found.id == "Annotated" for found in ast.walk(function.args)
    ):
        return []
    named = [argument.arg for argument in function.args.args]
    return [name for name in named if name not in ("self", "cls")]


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=name_of)
def test_a_room_has_no_more_files_than_one_idea_needs(folder: Path) -> None:
    files = [file for file in folder.glob("*.py") if file.name != "__init__.py"]
    assert len(files) <= MOST_FILES


def test_the_front_door_is_narrow() -> None:
    assert len(headway.__all__) <= FRONT_DOOR
    assert all(hasattr(headway, name) for name in headway.__all__)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_only_the_clock_asks_what_time_it_is(file: Path) -> None:
    if file.name == "clock.py":
        return
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called = f"{node.value.id}.{node.attr}"
            assert called not in ("time.time", "time.sleep", "time.monotonic", "datetime.now")
