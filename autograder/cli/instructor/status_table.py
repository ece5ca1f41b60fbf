"""`status`: a row per week, and a to-do list."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import msgspec
from typer import Argument

from ...model.course import load
from ...model.message_text import visible_json
from ...model.submission_files import KINDS
from ...terminal.console import terminal
from ..app import flag, instructor_command
from ..output import borderless_table, counted

if TYPE_CHECKING:
    from ...nbgrader.gradebook.effective_results import PastResult
    from ...nbgrader.status import WeekStatus


@instructor_command
def status(
    week: Annotated[
        str | None, Argument(help="A week, shown by name; default: every week.")
    ] = None,
    as_json: Annotated[bool, flag("json", "As JSON, with every name.")] = False,
) -> bool:
    """Show every week at a glance: released, submitted, late, graded, to mark, returned, odd.

    Example: autograder status week01
    """
    from ...nbgrader.formgrader.manual_marks import keep_marks
    from ...nbgrader.status import status

    course = load()
    chosen = course.week(week) if week else None
    keep_marks(course)
    weeks = [w for w in status(course) if chosen is None or w.week == chosen.name]
    if as_json:
        text = msgspec.json.format(msgspec.json.encode(weeks), indent=1).decode()
        sys.stdout.buffer.write(visible_json(text).encode() + b"\n")
    else:
        _print_table(weeks)
        for w in weeks:
            for line in _to_do(w):
                print(f"{w.week}: {line}")
        if chosen is not None:
            print("\n".join(_details(weeks[0])))
    return not any(map(_flagged, weeks))


def _flagged(w: WeekStatus) -> set[str]:
    """Return the students whose submissions need attention."""
    noted = {s for kind, some in w.noted.items() if kind != "kept" for s in some}
    return {*w.foreign, *w.refused, *noted, *w.strangers, *w.not_accepted}


def _print_table(weeks: list[WeekStatus]) -> None:
    numbers = (">submitted", ">late", ">graded", ">to mark", ">returned", ">odd")
    table = borderless_table("week", "released", "due", *numbers)
    for w in weeks:
        submitted = f"{len(w.handed_in)}/{w.enrolled}" if w.handed_in or w.released else "-"
        released = "yes" if w.released else f"{w.release:%d %b}"
        counts = (w.late, w.graded, w.to_mark, w.returned, _flagged(w))
        cells = (str(len(c)) if c or w.handed_in else "-" for c in counts)
        table.add_row(w.week, released, f"{w.due:%d %b}", submitted, *cells)
    terminal().print(table)


def _to_do(w: WeekStatus) -> list[str]:
    """Return the to-do list, each line with its command."""
    lines = []
    if not w.released and w.release <= dt.datetime.now(dt.UTC) < w.due:
        lines.append(f"not released yet: `autograder release {w.week}`")
    students: dict[str, Iterable[str]] = {
        f"to collect with `autograder collect {w.week}`": w.waiting,
        f"to grade with `autograder grade {w.week}`": w.ungraded,
        f"regrade requested; see `autograder requests {w.week}`": w.asking,
        f"feedback older than the score; update it with `autograder feedback {w.week}`": w.stale,
        "the newest submission scored lower than an earlier one; "
        f"`autograder restore {w.week} STUDENT` lists them": w.lower,
        "answers changed after they were marked; the marks stay until they are marked again": (
            w.changed
        ),
    }
    lines += [f"{what}: {counted(list(some))}" for what, some in students.items() if some]
    return lines + [f"LOOK  {line}" for line in _flagged_lines(w)]


def _flagged_lines(w: WeekStatus) -> list[str]:
    """Return a line for each kind of problem, with its students."""
    owners: dict[str, list[str]] = {}
    for student, owner in sorted(w.foreign.items()):
        owners.setdefault(owner, []).append(student)
    reasons: dict[str, list[str]] = {}
    for student, why in sorted(w.refused.items()):
        reasons.setdefault(why.split(". ")[0].rstrip("."), []).append(student)
    return [
        *(f"submitted by the user {o}: {counted(some)}" for o, some in owners.items()),
        *(f"refused, {why}: {counted(some)}" for why, some in reasons.items()),
        *(f"{KINDS[k]}: {counted(some)}" for k, some in w.noted.items() if k != "kept"),
        *(f"not accepted, an earlier one counts: {s}: {y}" for s, y in w.not_accepted.items()),
        *w.strangers,
    ]


def _details(w: WeekStatus) -> list[str]:
    lines = [f"due {w.due:%d %b %Y %H:%M %Z}"]
    if w.missing:
        lines.append(f"no submission from {len(w.missing)}: {', '.join(w.missing)}")
    lines += [f"{student} is {late} late" for student, late in w.late.items()]
    lines += [f"{student} was refused: {why}" for student, why in w.refused.items()]
    lines += [f"{KINDS[kind]}: {', '.join(some)}" for kind, some in w.noted.items()]
    lines += [f"{student} asks: {text}" for student, text in w.asking.items()]
    lines += [f"{student}: {less}" for student, less in w.lower.items()]
    lines += [f"{student} changed {', '.join(names)}" for student, names in w.changed.items()]
    if w.foreign:
        lines.append(f"submitted by a different user: {', '.join(sorted(w.foreign))}")
    if w.to_mark:
        marks = ", ".join(f"{s} {n}" for s, n in w.to_mark.items())
        lines.append(f"answers to mark in Formgrader: {marks}")
    for student, results in w.again.items():
        lines.append(f"{student} was graded {len(results)} times:")
        lines += [f"  {_result(r)}" for r in results]
    return lines


def _result(result: PastResult) -> str:
    when = result.handed_in.split(".")[0] or "at an unknown time"
    counts = " (counts)" if result.counts else ""
    return f"submitted {when} UTC: {result.score:g} of {result.max_score:g}{counts}"
