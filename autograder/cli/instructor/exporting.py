"""`export` and `roster`: grades, weeks and class lists for other systems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ..app import flag, instructor_command
from ..options import UnmarkedOption
from ..output import write_output

if TYPE_CHECKING:
    from ...lms.roster import RosterEntry


@instructor_command
def export(
    week: Annotated[str, Argument(help="A week: its name or number; or all.")],
    form: Annotated[
        str,
        Option("--format", help="csv, json, or the learning platform that --roster is from."),
    ] = "csv",
    roster: Annotated[
        Path | None, Option(help="The class list: a CSV of Canvas, of Moodle, or your own.")
    ] = None,
    out: Annotated[
        Path | None,
        Option(help="The file or folder; default: standard output, or named by the week."),
    ] = None,
    gradescope: Annotated[
        bool, flag("gradescope", "The autograder zip of a week for Gradescope.")
    ] = False,
    github: Annotated[
        bool, flag("github", "A template repository for GitHub Classroom, Classroom 50.")
    ] = False,
    visibility: Annotated[
        str,
        Option(
            help="With --gradescope, of scores and feedback: visible, after_due_date, "
            "after_published or hidden."
        ),
    ] = "after_due_date",
    feedback_as: Annotated[
        str, Option("--feedback", help="With --gradescope: html or md.")
    ] = "html",
    unmarked: UnmarkedOption = False,
    missing: Annotated[
        str, Option(help="For work that was due and not submitted: blank or 0.")
    ] = "blank",
) -> bool:
    """Export grades, or a week to be graded by another system.

    Exit code 1 if a student with a grade is not on the class list.

    Example: autograder export week01 --format canvas --roster grades.csv --out upload.csv
    Example: autograder export week01 --gradescope --visibility after_published
    Example: autograder export week01 --github --out week01
    """
    course = load()
    if gradescope:
        _export_gradescope(course, course.week(week), out, visibility, feedback_as)
        return True
    if github:
        _export_github(course, course.week(week), out)
        return True
    from ...lms.grade_files import FORMATS, export
    from ...lms.roster import read_roster
    from ...nbgrader.gradebook.final_scores import final_scores, overdue, require_marked

    if missing not in ("blank", "0"):
        raise KitError(f"--missing must be blank or 0, not {missing!r}")
    if form not in FORMATS:
        raise KitError(f"there is no format {form!r}; choose from {', '.join(FORMATS)}")
    known = read_roster(roster) if roster else None
    weeks = list(course.weeks) if week == "all" else [course.week(week)]
    scores = {w.name: final_scores(course, w) for w in weeks}
    weeks = [w for w in weeks if scores[w.name]]
    if not weeks:
        raise KitError("nothing has been graded yet: run `autograder grade` on a week first")
    if not unmarked:
        require_marked(course, weeks)
    if missing == "0":
        for w in weeks:
            scores[w.name] |= dict.fromkeys(overdue(course, w, scores[w.name]), 0.0)
    exported = export(form, weeks, scores, known, "" if missing == "blank" else "0")
    if out is None:
        sys.stdout.write(exported.text)
    else:
        write_output(out, exported.text.encode())
    for student in exported.unmatched:
        grades = [f"{name} {of[student]:g}" for name, of in scores.items() if student in of]
        print(f"UNMATCHED  {student}: {', '.join(grades)}", file=sys.stderr)
    return not exported.unmatched


@instructor_command
def roster(file: Annotated[Path, Argument(help="A CSV of Canvas, Moodle, or your own.")]) -> None:
    """Add the students of a class list to nbgrader's gradebook.

    Example: autograder roster grades.csv
    """
    from ...lms.roster import read_roster
    from ...nbgrader.workspace import open_gradebook

    course, entries = load(), read_roster(file).entries
    with open_gradebook(course) as gradebook:
        for entry in entries:
            first, last = _split_name(entry)
            gradebook.update_or_create_student(
                entry.student, first_name=first, last_name=last, email=entry.email or None
            )
    print(f"{len(entries)} students are in the gradebook")


def _split_name(entry: RosterEntry) -> tuple[str, str]:
    """Return first and last name; Canvas writes `Lovelace, Ada`, Moodle `Ada Lovelace`."""
    last, comma, first = entry.name.partition(", ")
    if comma:
        return first, last
    first, _, last = entry.name.rpartition(" ")
    return first, last


def _export_gradescope(
    course: Course, week: Week, out: Path | None, visibility: str, feedback: str
) -> None:
    from ...channels.gradescope_zip import autograder_zip

    path = out or Path(f"{week.name}-gradescope.zip")
    write_output(path, autograder_zip(course, week, visibility, feedback))
    print(f"{path}: upload it under Configure Autograder; the container needs 2 GB of memory")
    print(
        "keep it secret: it contains hidden tests and solutions, for you and the course staff on "
        "Gradescope only; in the container only root can read them"
    )
    if week.questions:
        names = ", ".join(q.name for q in week.questions)
        print(f"not included: the written answers ({names}), which are marked manually")


def _export_github(course: Course, week: Week, out: Path | None) -> None:
    from ...channels.github import export_template

    made = export_template(course, week, out or Path(f"{week.name}-github"))
    state = "a new commit" if made.changed else "unchanged"
    print(f"{made.template}: a git repository with the students' files only ({state})")
    print("push it, turn on `Template repository`, and select it in the assignment")
    print(f"{made.bundle}: for CLASSROOM/autograders/ of Classroom 50's configuration repository")
    print(
        "their scores show the public checks. For the grade: "
        f"autograder collect {week.name} --git ROSTER --repositories 'https://github.com/ORG/"
        f"{week.name}-{{username}}.git', then autograder grade {week.name}"
    )
