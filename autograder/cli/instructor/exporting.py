"""`export` and `roster`: grades, weeks and class lists for other systems."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ...channels.github import export_template
from ...channels.gradescope_zip import autograder_zip, write_zip
from ...lms.grade_files import FORMATS, export
from ...lms.roster import RosterEntry, read_roster
from ...model.course import Course, Week
from ...model.errors import KitError
from ..output import write_output


def run_export(
    course: Course,
    weeks: Sequence[Week],
    form: str,
    roster: Path | None,
    out: Path | None,
    *,
    unmarked: bool = False,
    missing: str = "blank",
) -> bool:
    """Write the grades; return whether all students with a grade are on the class list.

    unmarked: export even if answers are not marked. missing: `0` or `blank` for work not submitted.
    """
    if missing not in ("blank", "0"):
        raise KitError(f"--missing must be blank or 0, not {missing!r}")
    if form not in FORMATS:
        raise KitError(f"there is no format {form!r}; choose from {', '.join(FORMATS)}")
    known = read_roster(roster) if roster else None
    from ...nbgrader.feedback.provisional import overdue, require_marked
    from ...nbgrader.gradebook.final_scores import final_scores

    scores = {w.name: final_scores(course, w) for w in weeks}
    weeks = [w for w in weeks if scores[w.name]]
    if not weeks:
        raise KitError("nothing has been graded yet: run `autograder grade` on a week first")
    if not unmarked:
        require_marked(course, weeks)
    if missing == "0":
        for week in weeks:
            scores[week.name] |= dict.fromkeys(overdue(course, week, scores[week.name]), 0.0)
    exported = export(form, weeks, scores, known, "" if missing == "blank" else "0")
    if out is None:
        sys.stdout.write(exported.text)
    else:
        write_output(out, exported.text.encode())
    for student in exported.unmatched:
        grades = [f"{name} {of[student]:g}" for name, of in scores.items() if student in of]
        print(f"UNMATCHED  {student}: {', '.join(grades)}", file=sys.stderr)
    return not exported.unmatched


def run_roster(course: Course, file: Path) -> None:
    """Add the students of a class list to the gradebook."""
    entries = read_roster(file).entries
    from ...nbgrader.workspace import open_gradebook

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


def run_gradescope(
    course: Course, week: Week, out: Path | None, visibility: str, feedback: str
) -> None:
    """Write the autograder zip for Gradescope."""
    data = autograder_zip(course, week, visibility, feedback)
    path = out or Path(f"{week.name}-gradescope.zip")
    write_zip(path, data)
    print(f"{path}: upload it under Configure Autograder; the container needs 2 GB of memory")
    print(
        "keep it secret: it contains hidden tests and solutions, for you and the course staff on "
        "Gradescope only; in the container only root can read them"
    )
    if week.questions:
        names = ", ".join(q.name for q in week.questions)
        print(f"not included: the written answers ({names}), which are marked manually")


def run_github(course: Course, week: Week, out: Path | None) -> None:
    """Write the template repository, and the bundle for Classroom 50."""
    made = export_template(course, week, out or Path(f"{week.name}-github"))
    state = "a new commit" if made.changed else "unchanged"
    print(
        f"{made.template}: a git repository with the students' files ({state}); nothing hidden is "
        "in it"
    )
    print("push it, turn on `Template repository`, and select it in the assignment")
    print(f"{made.bundle}: for CLASSROOM/autograders/ of Classroom 50's configuration repository")
    print(
        "their scores show the public checks. For the grade: "
        f"autograder collect {week.name} --git ROSTER --repositories 'https://github.com/ORG/"
        f"{week.name}-{{username}}.git', then autograder grade {week.name}"
    )
