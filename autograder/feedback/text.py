"""Feedback as plain text, for comments on learning platforms, or as Markdown.

The content is that of the notebook fragment (templates/fragment.html.j2). Text from students is
limited to what the pages show; control characters are made visible, and Markdown is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..model.course import Week
from ..model.message_text import quoted, replaced, with_quotations
from ..model.report.schema import Ending, ExerciseReport, SubmissionReport
from ..pages.environment import lowered, points
from .view import ExerciseView, view_exercise

_SIGNS = re.compile(r"([\\*_{}\[\]<>()#+\-.!|~$&])")
Words = Callable[[str], str]


def escaped(text: str) -> str:
    """Escape a text for Markdown, except code in backticks."""
    return with_quotations(replaced(text).replace("\r", " "), _literal, quoted)


def _literal(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text).replace("`", "&#96;")


def exercise_text(
    exercise: ExerciseReport, maximum: float | None = None, words: Words = replaced
) -> str:
    """Return one exercise: points, named mistakes and hints, findings, and the sum of points."""
    return "\n".join(_lines(view_exercise(exercise, maximum), words))


def notice_text(message: str, words: Words = replaced) -> str:
    """Return a report's message; its source line is indented, as a Markdown code block."""
    sentence, _, code = message.partition("\n")
    return "\n\n".join(filter(None, (words(sentence), code)))


def submission_text(report: SubmissionReport, week: Week, words: Words = replaced) -> str:
    """Return all exercises of a submission, or the reason why it could not be graded."""
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
            f"This explains {d.explains} of the {d.of} failed checks. " if d.explains < d.of else ""
        )
        yield _item(f"{d.opening} {lowered(d.title)} {part}{d.hint}".rstrip(), words)
    if view.where:
        yield _item(view.where, words)
    if view.forbidden:
        yield _item("An exercise that uses a forbidden call earns no points.", words)
    if view.carried:
        yield _item(view.carried, words)
    if view.state != "open":
        for finding in view.findings:
            asked = " ".join(["Requirement:", *(c.text for c in finding.failed)])
            parts = (finding.message, asked, finding.others)
            yield _item(f"{finding.word}: {' '.join(filter(None, parts))}".rstrip(), words)
    for line in view.arithmetic:
        yield _item(str(line), words)


def _item(text: str, words: Words) -> str:
    return f"- {words(' '.join(text.split()))}"
