"""What a submission would change, shown before its student confirms it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ...model.submission_zip import digest_of
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
_ANSWERS = _WORDS | {"missing": "not answered"}


class ReviewLine(msgspec.Struct, frozen=True):
    """One part of the submission, and what happens to it."""

    name: str
    fate: str
    words: str


class Review(msgspec.Struct, frozen=True):
    """A submission as it would be graded. `digest` names exactly this content."""

    lines: tuple[ReviewLine, ...]
    summary: str
    rule: str
    stays: str  # what becomes of the earlier one if there is a problem
    digest: str
    problem: str = ""
    notes: tuple[str, ...] = ()


def review_of(merged: Merged, base: str | None, rule: str, left_out: Sequence[str] = ()) -> Review:
    """Describe a merged submission.

    base: when the earlier submission was received, "" if that is not known, or None without one.
    """
    stays = "" if base is None else f"Your submission from {base} stays as it is."
    return Review(
        lines=tuple(_lines(merged.parts, base or "your earlier submission")),
        summary="These files change nothing." if merged.unchanged else _summary(merged.parts),
        rule=rule,
        stays="Your earlier submission stays as it is." if base == "" else stays,
        digest=digest_of(merged.files),
        problem=merged.problem,
        notes=(
            *(note.text for note in merged.notes if note.kind != "kept"),
            *(f"Not taken: {line}" for line in left_out),
        ),
    )


def _lines(parts: Sequence[SubmittedPart], when: str) -> Iterator[ReviewLine]:
    """One line for each file, and one for all answers with the same fate."""
    answers: dict[str, list[str]] = {}
    for part in parts:
        if part.kind == "answer":
            answers.setdefault(part.fate, []).append(part.name)
        else:
            yield ReviewLine(part.name, part.fate, _WORDS[part.fate].format(when))
    for fate, names in answers.items():
        noun = "Answer" if len(names) == 1 else "Answers"
        yield ReviewLine(f"{noun}: {', '.join(names)}", fate, _ANSWERS[fate].format(when))


def _summary(parts: Sequence[SubmittedPart]) -> str:
    missing = [part.name for part in parts if part.fate == "missing"]
    return f"Missing: {', '.join(missing)}." if missing else "Nothing is missing."
