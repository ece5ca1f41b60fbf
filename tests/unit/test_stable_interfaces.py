"""Compare the public interfaces with tests/golden/interfaces.json (docs/stability.md).

A name that is missing or different breaks other people's courses and scripts: it needs a new
major version. A new name is added to the file:

    python -m tests.unit.test_stable_interfaces
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer.main

from autograder import authors
from autograder.cli import register
from autograder.cli.app import app
from autograder.model.course.registry import Registry
from autograder.model.report.schema import Report, Verdict
from autograder.student.show.verdict_json import Verdicts

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "interfaces.json"


def structs(schema: dict[str, Any]) -> dict[str, list[str]]:
    """Return the field names of each type in a JSON schema."""
    return {
        name: sorted(kind["properties"])
        for name, kind in sorted(schema["$defs"].items())
        if "properties" in kind
    }


def command_words() -> Iterator[tuple[str, list[str]]]:
    register()
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        words = [word for p in command.params for word in p.opts or [p.name]]
        yield name, sorted({*words} - {"--help"})


def interfaces() -> dict[str, Any]:
    """Return the names of every stable interface."""
    return {
        "course.yaml": structs(msgspec.json.schema(Registry)),
        "json verdicts": structs(msgspec.json.schema(Verdicts)),
        "report": structs(msgspec.json.schema(Report)),
        "verdicts": sorted(v.value for v in Verdict),
        "vocabulary": sorted(authors.__all__),
        "commands": dict(sorted(command_words())),
    }


def test_public_interfaces_are_those_of_the_golden_file() -> None:
    assert interfaces() == json.loads(GOLDEN.read_text(encoding="utf-8"))


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(interfaces(), indent=1) + "\n", encoding="utf-8")
