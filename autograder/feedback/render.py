"""Render reports as feedback pages, fragments for notebook cells, plain text or Markdown.

Names, exception messages and source lines are chosen by students and are not trusted. HTML
templates escape everything (autoescape, no `safe` filter; a test checks this), and the page's
Content-Security-Policy forbids scripts and all requests. In text, control characters are replaced
by U+FFFD; in Markdown, special characters are escaped as well. The output contains the claims and
messages of hidden tests, never their source code.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..model.availability import FAKE_GPU
from ..model.course import Course, Week
from ..model.message_text import quoted, replaced, with_quotations
from ..model.report.schema import Ending, ExerciseReport, SubmissionReport
from ..pages.environment import environment, lowered, points
from .view import ExerciseView, Marks, view_exercise

_SIGNS = re.compile(r"([\\*_{}\[\]<>()#+\-.!|~$&])")
Words = Callable[[str], str]  # makes untrusted text safe for one output format


def feedback_page(
    report: SubmissionReport,
    week: Week,
    course: Course,
    *,
    student: str | None = None,
    late: str = "",
    notes: Sequence[str] = (),
    marks: Marks | None = None,
    notebook: Sequence[Any] = (),
) -> str:
    """Return a self-contained HTML page that works offline, on phones, and in dark mode.

    late: how the late penalty was computed, or "" if on time. notes: remarks about the submission.
    marks: the scores in the gradebook, if known. notebook: the rendered cells to show at the end of
    the page (nbgrader/formgrader/submitted_cells.py).
    """
    from ..pages.markdown import code_styles  # slow: imports nh3 and pygments

    reports = {e.name: e for e in report.exercises}
    exercises = [
        view_exercise(reports.get(e.name) or ExerciseReport(e.name, 0.0, e.points), e.points)
        for e in week.exercises
    ]
    template = environment("feedback").get_template("page.html.j2")
    return template.render(
        course=course,
        week=week,
        report=report,
        student=student or report.name,
        due=course.localized(week.due),
        late=late,
        notes=notes,
        exercises=exercises,
        steps=next_steps(exercises) if report.verdict is Ending.GRADED else [],
        marks=marks,
        answers=[m for q in week.questions if marks and (m := marks.of(q.name))],
        answered={q.name for q in week.questions},
        explained={e.name for e in exercises} if report.verdict is Ending.GRADED else set(),
        notebook=notebook,
        styles=code_styles() if notebook else "",
        has_fake_gpu=any(FAKE_GPU in t.name for e in report.exercises for t in e.tests),
        electives={e.name for e in week.exercises if e.elective},
        written=sum(q.points for q in week.questions),
    )


def exercise_fragment(
    exercise: ExerciseReport, maximum: float | None = None, message: str = ""
) -> str:
    """Return one exercise as HTML with inline styles, for the output of a notebook cell.

    Text inherits the notebook's colour, so it is readable on light and dark backgrounds.
    message: why the submission could not be graded, or "" if it was graded.
    """
    template = environment("feedback").get_template("fragment.html.j2")
    return template.render(exercise=view_exercise(exercise, maximum), message=message)


def next_steps(exercises: list[ExerciseView]) -> list[ExerciseView]:
    """Return up to three exercises to work on.

    Exercises with named mistakes come first, then exercises with other failures, then unwritten
    exercises. Each group keeps the order of the week, because later exercises may use earlier ones.
    """
    order = {"partly": 1, "wrong": 1, "open": 2}
    left = [e for e in exercises if e.state in order and e.open_points > 0]
    return sorted(left, key=lambda e: 0 if e.report.explained else order[e.state])[:3]


def escaped(text: str) -> str:
    """Escape text for Markdown, except code in backticks, and replace control characters."""

    def literal(plain: str) -> str:
        return _SIGNS.sub(r"\\\1", plain).replace("`", "&#96;")

    return with_quotations(replaced(text).replace("\r", " "), literal, quoted)


def exercise_text(
    exercise: ExerciseReport,
    maximum: float | None = None,
    words: Words = replaced,
    *,
    details: bool = True,
) -> str:
    """Return feedback on an exercise as text: points, mistake, hint, line and failed requirement.

    details: add other mistakes, all findings and the calculation of the points
    """
    return "\n".join(_lines(view_exercise(exercise, maximum), words, details))


def notice_text(message: str, words: Words = replaced) -> str:
    """Return a report's message, with a blank line between the sentence and the source line."""
    sentence, _, code = message.partition("\n")
    return "\n\n".join(filter(None, (words(sentence), code)))


def submission_text(
    report: SubmissionReport, week: Week, words: Words = replaced, *, details: bool = True
) -> str:
    """Return feedback on each exercise as text, or the reason why the submission was not graded."""
    if report.verdict is not Ending.GRADED:
        return notice_text(report.message, words)
    known = {e.name: e for e in report.exercises}
    return "\n\n".join(
        exercise_text(known[e.name], e.points, words, details=details)
        for e in week.exercises
        if e.name in known
    )


def _lines(view: ExerciseView, words: Words, details: bool) -> Iterator[str]:
    noun = "point" if view.points == 1 else "points"
    of = f"{points(view.score)} of {points(view.points)} {noun}"
    yield words(f"`{view.name}`: {view.words}, {of}")
    named = (view.named,) if view.named else ()
    for d in (*named, *view.folded) if details else named:
        part = f"This explains {d.explains} of the {d.of} failed checks. "
        part = part if d.explains < d.of else ""
        yield _item(f"{d.opening} {lowered(d.title)} {part}{d.hint}".rstrip(), words)
    if (example := view.example) is not None:
        shown = {
            "For example:": example.call,
            "Expected:": example.expected,
            "Got:": example.actual,
        }
        for title, code in shown.items():
            if "\n" in code or "`" in code:
                block = (f"      {line}" for line in replaced(code).split("\n"))
                yield "\n".join((_item(title, words), "", *block, ""))
            else:
                yield _item(f"{title} `{code}`", words)
        if example.wrong_value:
            yield _item(example.wrong_value, words)
    if view.where:
        yield _item(view.where, words)
    if view.broken_rule:
        yield _item(f"{view.broken_rule}: this exercise earns no points.", words)
    if view.carried and (details or view.first is None):
        yield _item(view.carried, words)
    findings = view.findings if details and view.first is not None else [view.headline]
    for finding in filter(None, findings):
        said = f"{finding.word}: {finding.message if details else view.message} Requirement:"
        parts = (said, *(c.text for c in finding.failed), finding.others if details else "")
        yield _item(" ".join(filter(None, parts)), words)
    for line in view.arithmetic if details else ():
        yield _item(str(line), words)


def _item(text: str, words: Words) -> str:
    return f"- {words(' '.join(text.split()))}"
