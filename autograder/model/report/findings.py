"""Define the names of findings, and load their wording for students from findings.toml.

A finding is a mistake without an entry in the bank. Diagnosis reports a symptom of a failed test as
`shows:KIND`, and localization reports an edit that fixes the code as `line:KIND`. These names must
not change, because stored reports contain them.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple


class FindingWording(NamedTuple):
    """The wording of a finding."""

    title: str  # completes "It looks as if your code ..."
    hint: str
    question: str = ""  # shown next to a line that an edit of this kind would fix


# Kinds of suspicious lines without a specific edit. Stored reports contain these values.
SHOWN = "shown"  # a line that computes a wrong value for the first time
WHATEVER = "whatever"  # a line that different edits would fix
MAKES = "makes"  # a line that creates a parameter with a wrong name or shape
IGNORED = "ignored argument"
STEPS = "steps"  # no line is known, but the code computes values that lead to the correct result


def symptom_name(kind: str) -> str:
    """Return a symptom's name in reports. Its colon sets it apart from names of misconceptions."""
    return f"shows:{kind}"


def edit_name(kind: str) -> str:
    """Return the name of a mistake that an edit of this kind fixes, as it appears in reports."""
    return f"line:{kind}"


def question(kind: str) -> str:
    """Return the question about a line that an edit of this kind would fix; default: the kind."""
    wording = FINDINGS.get(edit_name(kind))
    return wording.question if wording else _QUESTIONS.get(kind, kind)


_TABLES = tomllib.loads(Path(__file__).with_name("findings.toml").read_text(encoding="utf-8"))
_QUESTIONS = _TABLES["questions"]
CAUSES: dict[str, str] = _TABLES["causes"]  # by kind of failure
EFFECTS: dict[str, str] = _TABLES["effects"]  # by value of `frames.Effect`
FINDINGS = {
    f"{section}:{kind}": FindingWording(
        title=wording["title"],
        hint=_TABLES["hints"].get(wording["hint"], wording["hint"]),
        question=wording.get("question", ""),
    )
    for section in ("shows", "line")
    for kind, wording in _TABLES[section].items()
}
