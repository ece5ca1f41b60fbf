"""`export`, `roster` and `marks`: exchange grades, class lists and marks as files."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from ...model.course import Course, Week, load
from ...model.errors import KitError
from ...model.message_text import plural
from ..app import flag
from ..options import UnmarkedOption, WeekArgument, find_week
from ..output import print_attention, write_output


def export(
    week: Annotated[str, Argument(help="A week (its name or number), or all.")],
    form: Annotated[
        str, Option("--format", help="csv, json, or the learning platform that --roster is from.")
    ] = "csv",
    roster: Annotated[
        Path | None, Option(help="The class list: a CSV from Canvas, Moodle, or your own.")
    ] = None,
    out: Annotated[
        Path | None,
        Option(help="The file or folder; default: standard output (-), or the week's name."),
    ] = None,
    gradescope: Annotated[bool, flag("gradescope", "Write the week's zip for Gradescope.")] = False,
    github: Annotated[
        bool, flag("github", "Write a template repository for GitHub Classroom or Classroom 50.")
    ] = False,
    visibility: Annotated[
        Literal["visible", "after_due_date", "after_published", "hidden"],
        Option(help="With --gradescope, when scores and feedback are shown."),
    ] = "after_due_date",
    feedback_as: Annotated[
        Literal["html", "md"], Option("--feedback", help="With --gradescope: the format.")
    ] = "html",
    unmarked: UnmarkedOption = False,
    missing: Annotated[
        Literal["blank", "0"], Option(help="The grade for work that is due and not submitted.")
    ] = "blank",
) -> bool:
    """Export grades, or a week that a different system grades.

    Exit code 1 if a student with a grade is not on the class list.

    Example: autograder export week01 --format canvas --roster grades.csv --out upload.csv
    Example: autograder export week01 --gradescope --visibility after_published
    Example: autograder export week01 --github --out week01
    """
    course = load()
    if gradescope:
        from ...channels.gradescope_zip import GradescopeSettings, autograder_zip

        chosen = course.week(week)
        settings = GradescopeSettings(chosen.name, visibility, feedback_as)
        return _export_gradescope(chosen, out, autograder_zip(course, settings))
    if github:
        return _export_github(course, course.week(week), out)
    from ...lms.grade_files import FORMATS, FinalScore, export
    from ...lms.roster import read_roster
    from ...nbgrader.gradebook.database import read_students
    from ...nbgrader.gradebook.final_scores import final_scores, overdue, require_marked

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
    absent = FinalScore(0.0) if missing == "0" else None
    if absent:
        for w in weeks:
            scores[w.name] |= dict.fromkeys(overdue(course, w, scores[w.name]), absent)
    exported = export(form, weeks, scores, known, absent, read_students(course))
    if out is None or str(out) == "-":
        sys.stdout.write(exported.text.replace("\r\n", "\n"))  # the stream adds its own newlines
    else:
        write_output(out, exported.text.encode())
    for student in exported.unmatched:
        grades = [f"{name} {of[student].points:g}" for name, of in scores.items() if student in of]
        print(f"UNMATCHED  {student}: {', '.join(grades)}", file=sys.stderr)
    return not exported.unmatched


def roster(
    file: Annotated[Path, Argument(help="The class list: a CSV from Canvas, Moodle, or your own.")],
) -> None:
    """Add the students of a class list to nbgrader's gradebook.

    Example: autograder roster grades.csv
    """
    from ...lms.roster import read_roster
    from ...nbgrader.workspace import enter_students

    entries = read_roster(file).entries
    enter_students(load(), entries)
    print(f"{plural(len(entries), 'student')} entered in the gradebook")


def _export_gradescope(week: Week, out: Path | None, content: bytes) -> bool:
    path = out or Path(f"{week.name}-gradescope.zip")
    write_output(path, content)
    print(f"{path}: upload it under Configure Autograder; the container needs 2 GB of memory")
    print(
        "keep the zip secret: it contains hidden tests and solutions. On Gradescope only course "
        "staff can download it, and in the container only root can read it"
    )
    if week.questions:
        names = ", ".join(q.name for q in week.questions)
        print(f"not included: the written answers ({names}), which are marked manually")
    return True


def _export_github(course: Course, week: Week, out: Path | None) -> bool:
    from ...channels.github import export_template

    exported = export_template(course, week, out or Path(f"{week.name}-github"))
    state = "a new commit" if exported.changed else "unchanged"
    print(f"{exported.template}: a git repository with only the students' files ({state})")
    print("push it, enable `Template repository` on GitHub, and select it in the assignment")
    print(
        f"{exported.bundle}: copy it to CLASSROOM/autograders/ in Classroom 50's configuration "
        "repository"
    )
    print(
        "the scores on GitHub are those of the public checks. For the grades, run "
        f"autograder collect {week.name} --git ROSTER --repositories 'https://github.com/ORG/"
        f"{week.name}-{{username}}.git', then autograder grade {week.name}"
    )
    return True


def marks(
    week: WeekArgument,
    out: Annotated[
        Path | None, Option(help="Write the answers to this CSV, with codes instead of names.")
    ] = None,
    sheet: Annotated[Path | None, Option("--from", help="Read a marked sheet.")] = None,
    marker: Annotated[str, Option(help="With --from: the marker's name.")] = "",
    apart: Annotated[
        float, Option(min=0, help="Two marks that differ by at most this much are averaged.")
    ] = 0.5,
) -> bool:
    """Mark written answers on an anonymous sheet, alone or with several markers.

    Exit code 1 if two markers disagree, or if an answer has changed or was marked in Formgrader.

    Example: autograder marks week01 --out sheet.csv
    Example: autograder marks week01 --from sheet.csv --marker bea
    """
    course, chosen = find_week(week)
    if sheet is not None and marker and out is None:
        return _read_sheet(course, chosen, sheet, marker, apart)
    if sheet is not None or out is None:
        raise KitError("use either --out FILE, or --from FILE with --marker NAME")
    from ...nbgrader.formgrader.marking_sheets import sheet as written

    text = written(course, chosen)
    write_output(out, text.encode())
    print(f"{out}: {text.count(chr(13)) - 1} answers, with codes instead of students' names")
    return True


def _read_sheet(course: Course, week: Week, path: Path, marker: str, apart: float) -> bool:
    from ...nbgrader.collect.groups import share_marks
    from ...nbgrader.formgrader.manual_marks import keep_marks
    from ...nbgrader.formgrader.marking_sheets import read_marks

    found = read_marks(course, week, path, marker, apart)
    shared = share_marks(course, week)
    keep_marks(course)
    print(f"{found.entered} marks are in the gradebook")
    for line in shared:
        print(line)
    attention = [
        f"two markers disagree: {line}: set the mark in Formgrader or on a new sheet"
        for line in found.apart
    ]
    if found.changed:
        changed = ", ".join(found.changed)
        attention.append(f"not entered, because the answer has changed since: {changed}")
    if found.kept:
        attention.append(f"not changed, because marked in Formgrader: {', '.join(found.kept)}")
    return print_attention(attention)
