"""The kinds of findings and their wording for students, which is in findings.toml.

A finding is a mistake without an entry in the bank. Diagnosis names it by a symptom that a failed
test shows (`shows:KIND`), localization by the kind of edit that fixes it (`line:KIND`). Reports
store these names, so they do not change; pages take the wording from here.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class FindingWording(NamedTuple):
    """The wording of one kind of finding.

    title: completes "It looks as if your code ..."
    question: shown next to a line that an edit of this kind would fix
    """

    title: str
    hint: str
    question: str = ""


# Kinds of lines that do not name one kind of edit. Stored reports contain these values.
SHOWN = "shown"  # a named mistake shows here
WHATEVER = "whatever"  # edits of several kinds would fix it
MAKES = "makes"  # creates a parameter that should not exist
IGNORED = "ignored argument"


def symptom_name(kind: str) -> str:
    """Return the name of a symptom in reports. The colon keeps it apart from misconceptions."""
    return f"shows:{kind}"


def edit_name(kind: str) -> str:
    """Return the name of a mistake in reports that an edit of this kind fixes."""
    return f"line:{kind}"


def question(kind: str) -> str:
    """Return the question about a line that an edit of this kind would fix."""
    wording = FINDINGS.get(edit_name(kind))
    return wording.question if wording else _QUESTIONS.get(kind, kind)


_TABLES = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))
_QUESTIONS = _TABLES["questions"]
FINDINGS = {
    f"{section}:{kind}": FindingWording(
        title=wording["title"],
        hint=_TABLES["hints"].get(wording["hint"], wording["hint"]),
        question=wording.get("question", ""),
    )
    for section in ("shows", "line")
    for kind, wording in _TABLES[section].items()
}
