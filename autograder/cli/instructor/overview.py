"""`doctor` and `status`: check this machine's installation, and report the state of each week."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import itertools
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from typer import Argument

from ...model.availability import AXES, FAKE_GPU, axis
from ...model.course import REGISTRY, Course, load
from ...model.errors import CourseError, NoCourse
from ...model.message_text import plural, visible_json
from ...model.submission_files import KINDS, local_text
from ...terminal.console import Terminal
from ...version import __version__
from ..app import flag
from ..output import counted, new_table, print_checks

if TYPE_CHECKING:
    from ...nbgrader.status import WeekStatus


def doctor() -> bool:
    """Report whether the sandbox, devices and nbgrader work here, and how to fix problems.

    Example: autograder doctor
    """
    from ...sandbox import probe

    print(f"autograder {__version__}, Python {sys.version.split()[0]}")
    can_grade = True
    try:
        course = load()
        weeks = plural(len(course.weeks), "week")
        print_checks([(True, f"course.yaml: {course.title}, {weeks}", "")])
        print_checks(_course_checks(course))
        readable = readable_by_others(course.root / "solutions")
        if readable is not None:
            who = f"project: other users of this machine {'can' if readable else 'cannot'}"
            remedy = f"chmod 700 {shlex.quote(str(course.root))}"
            print_checks([(not readable, f"{who} read the solutions", remedy)])
    except NoCourse:
        print_checks([(False, f"{REGISTRY} is not in this folder or a folder above it", "")])
    except CourseError as error:
        print_checks([(False, str(error), "")])
        can_grade = False
    print_checks(map(_package, ("torch", "numpy", "nbgrader", "jupyterlab")))
    missing = ", ".join(a.missing for a in AXES.values() if not a.is_available())
    devices = ", ".join(axis()) + (f" ({missing})" if missing else "")
    print_checks([(FAKE_GPU not in axis(), f"devices of the tests: {devices}", "")])
    findings = probe()
    print_checks((f.ok, f"{f.name}: {f.detail}", f.remedy) for f in findings)
    return can_grade and all(f.ok for f in findings if f.name == "sandbox")


def _course_checks(course: Course) -> Iterator[tuple[bool, str, str]]:
    """Yield a failed check for each week that is probably a slip in course.yaml."""
    for before, week in itertools.pairwise(course.weeks):
        if course.localized(week.due) < course.localized(before.due):
            order = f"{week.name} is due before {before.name}"
            yield False, order, f"check the dates in {REGISTRY}"
    listed = {week.name for week in course.weeks}
    for folder in sorted((course.root / "exercises").glob("week*")):
        if folder.is_dir() and folder.name not in listed:
            remedy = f"add it to {REGISTRY}, or ignore this if the course omits it"
            yield False, f"exercises/{folder.name} is not a week of the course", remedy


def _package(name: str) -> tuple[bool, str, str]:
    try:
        return True, f"{name} {importlib.metadata.version(name)}", ""
    except importlib.metadata.PackageNotFoundError:
        return False, f"{name} is not installed", ""


def readable_by_others(folder: Path) -> bool | None:
    """Return True if other users of this machine can list the folder, None if it is missing."""
    if not folder.is_dir():
        return None
    path = folder.resolve()
    passable = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
    return passable and bool(path.stat().st_mode & stat.S_IROTH)


def status(
    week: Annotated[str | None, Argument(help="A week with its students; default: all.")] = None,
    as_json: Annotated[bool, flag("json", "Print JSON with all names.")] = False,
) -> bool:
    """Show how many students of each week are late, graded, marked and so on, and what to do next.

    The column `odd` counts submissions that need attention; exit code 1 if there are any.

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
            print("\n".join(_details(weeks[0], course.zone)))
    return not any(map(_flagged, weeks))


def _flagged(w: WeekStatus) -> set[str]:
    noted = {s for kind, some in w.noted.items() if kind != "kept" for s in some}
    return {*w.foreign, *w.refused, *noted, *w.strangers, *w.not_accepted}


def _print_table(weeks: list[WeekStatus]) -> None:
    numbers = (">submitted", ">late", ">graded", ">to mark", ">returned", ">odd")
    table = new_table("week", "released", "due", *numbers)
    for w in weeks:
        submitted = f"{len(w.handed_in)}/{w.enrolled}" if w.handed_in or w.released else "-"
        released = "yes" if w.released else f"{w.release:%d %b}"
        counts = (w.late, w.graded, w.to_mark, w.returned, _flagged(w))
        cells = (str(len(c)) if c or w.handed_in else "-" for c in counts)
        table.add_row(w.week, released, f"{w.due:%d %b}", submitted, *cells)
    Terminal().print(table)


def _to_do(w: WeekStatus) -> list[str]:
    lines = []
    if not w.released and w.release <= dt.datetime.now(dt.UTC) < w.due:
        lines.append(f"not released yet: `autograder release {w.week}`")
    students: dict[str, Iterable[str]] = {
        f"to collect with `autograder collect {w.week}`": w.waiting,
        f"to grade with `autograder grade {w.week}`": w.ungraded,
        "written answers to mark in the service, in Formgrader or with `autograder marks "
        f"{w.week}`": w.to_mark,
        f"feedback to release with `autograder feedback {w.week}`": w.unreturned,
        f"regrade requested; see `autograder requests {w.week}`": w.asking,
        f"feedback older than the score; update it with `autograder feedback {w.week}`": w.stale,
        "the newest submission scored lower than an earlier one; "
        f"`autograder restore {w.week} STUDENT` lists them": w.lower,
        "answers changed after they were marked; the old marks count until you mark the answers "
        "again": w.changed,
    }
    lines += [f"{what}: {counted(list(some))}" for what, some in students.items() if some]
    return lines + [f"LOOK  {line}" for line in _flagged_lines(w)]


def _flagged_lines(w: WeekStatus) -> list[str]:
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


def _details(w: WeekStatus, zone: dt.tzinfo) -> list[str]:
    """Return the facts about a week that its to-do list does not contain."""
    lines = [f"due {w.due:%A %d %B %Y, %H:%M %Z}"]
    if w.missing:
        lines.append(f"no submission from {len(w.missing)}: {', '.join(w.missing)}")
    lines += [f"{student} is {late} late" for student, late in w.late.items()]
    lines += [f"{KINDS[kind]}: {', '.join(s)}" for kind, s in w.noted.items() if kind == "kept"]
    lines += [f"{student}: {less}" for student, less in w.lower.items()]
    lines += [f"{student} changed {', '.join(names)}" for student, names in w.changed.items()]
    for student, results in w.again.items():
        lines.append(f"{student} was graded {len(results)} times:")
        for r in results:
            counts = " (counts)" if r.counts else ""
            when = local_text(r.handed_in, zone)
            lines.append(f"  submitted {when}: {r.score:g} of {r.max_score:g}{counts}")
    return lines
