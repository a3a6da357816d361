"""What the documents say is what the code does."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

import headway
from headway.benches.foretold.results import draw
from headway.engine.kafka.jars import kafka_home
from headway.plan.modes import RealTime

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!http)([^)#]+)")
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/tutorial.md",
        pytest.param("docs/kafka.md", marks=pytest.mark.long),
        pytest.param("docs/realtime.md", marks=pytest.mark.long),
        "docs/yours.md",
        "docs/early.md",
    ],
)
def test_examples_print_what_stands_under_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name in ("docs/kafka.md", "docs/realtime.md") and not any(kafka_home().glob("broker/*.jar")):
        pytest.skip("Kafka's jars are not there: install Maven and run make setup")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for language, text in BLOCK.findall((ROOT / name).read_text()):
        if language == "python":
            capsys.readouterr()
            exec(compile(text, name, "exec"), names)
            printed = capsys.readouterr().out
        elif printed is not None and language == "":
            assert printed == text
            printed = None


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_files_and_tests_named_in_documents_exist(document: Path) -> None:
    for name in re.findall(r"`((?:src|tests|examples|docs)/[\w/.]+)", document.read_text()):
        assert (ROOT / name).exists(), name
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for name in re.findall(r"\b(test_\w{12,})\b", document.read_text()):
        known = f"def {name}(" in tests or any((ROOT / "tests").rglob(f"{name}.py"))
        assert known, name


def test_each_name_at_the_front_door_is_shown_to_users() -> None:
    shown = (ROOT / "README.md").read_text() + (ROOT / "docs" / "tutorial.md").read_text()
    for name in headway.__all__:
        assert re.search(rf"\bhw\.{name}\b", shown), name


def test_the_tables_of_results_are_drawn_from_their_figures() -> None:
    assert draw(ROOT / "docs" / "results") == (ROOT / "docs" / "results.md").read_text()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 150


def settings_table(kind: type) -> str:
    """The fields of a settings class as a table: name, type, default, and its sentence."""
    doc = inspect.getdoc(kind) or ""
    rows = ["| field | type | default | what it does |", "| --- | --- | --- | --- |"]
    for field in fields(kind):
        found = re.search(rf"^{field.name}\s\s+(.+)$", doc, re.MULTILINE)
        assert found, f"{kind.__name__}.{field.name} has no sentence"
        default = field.default if field.default is not MISSING else field.default_factory()  # type: ignore[misc]
        shown = f"`{default!r}`".replace("|", "\\|")
        rows.append(
            f"| `{field.name}` | {str(field.type).replace('|', 'or')} | {shown} | {found[1]} |"
        )
    return "\n".join(rows)


@pytest.mark.parametrize(
    "kind", [headway.Settings, headway.Pace, RealTime], ids=lambda kind: kind.__name__
)
def test_the_settings_page_is_what_the_code_declares(kind: type) -> None:
    assert settings_table(kind) in (ROOT / "docs" / "settings.md").read_text()
