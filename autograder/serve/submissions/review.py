"""Describe a submission to the student before it is confirmed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...model.submission_files import digest_of
from ...nbgrader.collect.history import SubmittedPart
from ...nbgrader.collect.merging import Merged

_WORDS = {
    "new": "new",
    "replaced": "replaces the one from {}",
    "same": "unchanged since {}",
    "kept": "kept from {}",
    "refused": "cannot be graded: kept from {}",
    "missing": "missing",
}
_ANSWER_WORDS = _WORDS | {"missing": "not answered"}


class ReviewLine(msgspec.Struct, frozen=True):
    """A part of the submission, and what happens to it."""

    name: str
    fate: str
    words: str


class Review(msgspec.Struct, frozen=True):
    """A submission as it would be graded. `digest` identifies its contents."""

    lines: tuple[ReviewLine, ...]
    summary: str
    rule: str
    stays: str  # says that the earlier submission stays; shown if there is a problem
    digest: str
    problem: str = ""
    notes: tuple[str, ...] = ()


def review_of(merged: Merged, base: str | None, rule: str, left_out: Sequence[str] = ()) -> Review:
    """Describe a merged submission.

    base: when the earlier submission was received: "" if unknown, None if there is none
    """
    earlier = f"Your submission from {base}" if base else "Your earlier submission"
    missing = ", ".join(part.name for part in merged.parts if part.fate == "missing")
    summary = f"Missing: {missing}." if missing else "Nothing is missing."
    notes = [note.text for note in merged.notes if note.kind != "kept"]
    return Review(
        lines=tuple(_lines(merged.parts, base or "your earlier submission")),
        summary="These files do not change your submission." if merged.unchanged else summary,
        rule=rule,
        stays="" if base is None else f"{earlier} stays as it is.",
        digest=digest_of(merged.files),
        problem=merged.problem,
        notes=(*notes, *(f"Not accepted: {line}" for line in left_out)),
    )


def _lines(parts: Sequence[SubmittedPart], when: str) -> Iterator[ReviewLine]:
    """Yield a line for each file, and a line for all answers with the same fate."""
    answers: dict[str, list[str]] = {}
    for part in parts:
        if part.kind == "answer":
            answers.setdefault(part.fate, []).append(part.name)
        else:
            yield ReviewLine(part.name, part.fate, _WORDS[part.fate].format(when))
    for fate, names in answers.items():
        noun = "Answer" if len(names) == 1 else "Answers"
        yield ReviewLine(f"{noun}: {', '.join(names)}", fate, _ANSWER_WORDS[fate].format(when))
