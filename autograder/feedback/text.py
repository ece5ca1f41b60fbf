"""Feedback without HTML: plain text for comments of learning platforms, Markdown where it is shown.

It says what the fragment in a notebook says (templates/fragment.html.j2). What a student may have
written reaches it as it reaches the pages: only what feedback repeats, with control characters
shown; Markdown has its signs escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..model.course.loader import Week
from ..model.quoting import quoted, with_quotations
from ..model.report.schema import ExerciseReport, SubmissionReport
from ..model.report.verdicts import Ending
from ..model.visible import replaced
from ..pages.environment import lowered, points
from .view import ExerciseView, view_exercise

_SIGNS = re.compile(r"([\\*_{}\[\]<>()#+\-.!|~$&])")
Words = Callable[[str], str]


def plain(text: str) -> str:
    """A text as it is, for somebody who reads it without any markup."""
    return replaced(text)


def escaped(text: str) -> str:
    """A text for Markdown: what is quoted stays code, every other sign stands for itself."""
    return with_quotations(replaced(text).replace("\r", " "), _literal, quoted)


def _literal(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text).replace("`", "&#96;")


def exercise_text(
    exercise: ExerciseReport, maximum: float | None = None, words: Words = plain
) -> str:
    """One exercise: points, named mistakes and hints, findings, how the points came about."""
    return "\n".join(_lines(view_exercise(exercise, maximum), words))


def notice_text(message: str, words: Words = plain) -> str:
    """A report's message; the source line in it is indented, as a block of code in Markdown."""
    sentence, _, code = message.partition("\n")
    return "\n\n".join(filter(None, (words(sentence), code)))


def submission_text(report: SubmissionReport, week: Week, words: Words = plain) -> str:
    """All exercises of a submission, those without a fault in one line."""
    if report.verdict is not Ending.GRADED:
        return notice_text(report.message, words)
    known = {e.name: e for e in report.exercises}
    return "\n\n".join(
        exercise_text(known[e.name], e.points, words=words)
        for e in week.exercises
        if e.name in known
    )


def _lines(view: ExerciseView, words: Words) -> Iterator[str]:
    of = (
        f"{points(view.score)} of {points(view.points)} {'point' if view.points == 1 else 'points'}"
    )
    yield words(f"`{view.name}`: {view.words}, {of}")
    for d in view.report.explained:
        part = (
            f"This explains {d.explains} of the {d.of} checks that fail. "
            if d.explains < d.of
            else ""
        )
        yield _item(f"{d.opening} {lowered(d.title)} {part}{d.hint}".rstrip(), words)
    if view.where:
        yield _item(view.where, words)
    if view.forbidden:
        said = "An exercise that uses a call that is not allowed earns no points."
        yield _item(said, words)
    if view.carried:
        yield _item(view.carried, words)
    if view.state != "open":
        for finding in view.findings:
            asked = " ".join(["What was asked:", *(c.text for c in finding.failed)])
            parts = (finding.message, asked, finding.others)
            yield _item(f"{finding.word}: {' '.join(filter(None, parts))}".rstrip(), words)
    for line in view.arithmetic:
        yield _item(str(line), words)


def _item(text: str, words: Words) -> str:
    return f"- {words(' '.join(text.split()))}"
