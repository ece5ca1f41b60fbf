"""Release a week's solutions once no student can submit the week for full points any more.

The release contains the week's files with the solved module, model answers with their rubrics, and
a page of common mistakes. Hidden tests and the code of misconceptions and alternative solutions
stay private, so that the course can use them again next year.

The solutions are a separate nbgrader assignment, `<week>-solutions`, because students can fetch an
assignment only once. The files are also in nbgrader's release/ folder.
"""

import datetime as dt
from collections.abc import Iterator

import nbformat

from ...authoring.lesson.handout import AGENTS, ANSWER, Notebook, lesson_notebook, week_files
from ...authoring.lesson.leak_check import check_files, secrets_of
from ...authoring.lesson.marking_guide import answers_text, marking_guides
from ...authoring.scaffolding import fill_template
from ...files import replace_folder
from ...model.course import Course, Week
from ...model.course.bank import Bank
from ...model.course.late import due_for
from ...model.course.registry import Late
from ...model.course.stubs import without_marks
from ...model.errors import NbgraderError
from ...student.folder.week import SUFFIX_OF_SOLUTIONS
from ..gradebook.database import read_gradebook
from ..workspace import Workspace
from .publish import Released, publish_in_exchange, require_outbound

MISTAKES = "MISTAKES.md"


def release_solutions(course: Course, week: Week, *, now: dt.datetime | None = None) -> Released:
    """Release a week's solutions as the assignment `<week>-solutions`.

    Raise NbgraderError if the week was never released, or if a student can still submit the week
    without losing points. Raise LeakError if a file contains a secret.
    """
    moment, who = last_moment(course, week)
    if (now or dt.datetime.now(dt.UTC)) <= moment:
        whose = f"{who} has an extension and" if who else "students"
        raise NbgraderError(
            f"the solutions of {week.name} cannot be released yet: {whose} can submit without "
            f"losing points until {moment:%A %d %B %Y, %H:%M} ({course.zone})"
        )
    workspace, name = Workspace(course), f"{week.name}{SUFFIX_OF_SOLUTIONS}"
    require_outbound(workspace, week)
    files = solution_files(course, week)
    published = files[week.module].decode(), files[MISTAKES].decode(), answers_text(course, week)
    secrets = secrets_of(course, week, "\n".join(published))
    check_files(files, secrets, f"release/{name}")
    folder = workspace.released(week).with_name(name)
    replace_folder(folder, files)
    publish_in_exchange(course, name, secrets, files)
    return Released(sorted(files), folder, list(_still_accepted(course, week)))


def solution_files(course: Course, week: Week) -> dict[str, bytes]:
    """Return the files of the solution release, by name."""
    files = week_files(course, week)
    del files[AGENTS]  # it forbids looking at solutions
    files[week.module] = without_marks(Bank(course, week).solution).encode()
    files[f"{week.name}.ipynb"] = nbformat.writes(_solved_lesson(course, week), version=4).encode()
    files[MISTAKES] = _mistakes(course, week).encode()
    return files


def last_moment(course: Course, week: Week) -> tuple[dt.datetime, str]:
    """Return the latest time at which any student can submit without penalty, and that student.

    The student is "" if no extension is later than the due date. The time includes extensions from
    course.yaml and from the gradebook, slip days and the grace period.
    """
    students, entries = read_gradebook(course)
    policy = course.registry.late or Late(percent=0)
    more = {e.student: e.extension for e in entries if e.week == week.name}
    named = {e.student for e in policy.extensions if e.week == week.name}
    dues = {
        student: due_for(course, week, student, more.get(student, dt.timedelta()))
        for student in sorted({"", *students, *more, *named})  # "": anyone without an extension
    }
    who, last = max(dues.items(), key=lambda due: due[1].astimezone(dt.UTC))
    return last + dt.timedelta(days=policy.slip_days, minutes=policy.grace_minutes), who


def _still_accepted(course: Course, week: Week) -> Iterator[str]:
    """Yield a warning if late submissions, which may be copied solutions, still earn points."""
    policy = course.registry.late
    if policy is None or policy.percent == 0 or policy.floor:
        yield (
            "late work still earns points (course.yaml, late): check submissions from now on for "
            "copies of the solution"
        )


def _solved_lesson(course: Course, week: Week) -> Notebook:
    notebook, guides = lesson_notebook(course, week), marking_guides(course, week)
    for cell in notebook.cells:
        grading = cell.metadata.pop("nbgrader", None)
        if grading and cell.source == ANSWER and grading["grade_id"] in guides:
            guide = guides[grading["grade_id"]]
            rubric = "\n".join(f"- {line.points:g}: {line.earned_by}" for line in guide.rubric)
            parts = ("**Model answer**", guide.model_answer, "**Marking scheme**", rubric)
            cell.source = "\n\n".join(parts)
    return notebook


def _mistakes(course: Course, week: Week) -> str:
    """Return MISTAKES.md: the title, symptom and hint of each misconception, by exercise."""
    bank = Bank(course, week)
    mistakes = {e.name: bank.of_exercise(e.name) for e in week.exercises}
    values = {"title": week.title, "mistakes": mistakes, "capitalized": capitalize_sentence}
    return fill_template("MISTAKES.md.blank", values)


def capitalize_sentence(text: str) -> str:
    """Capitalize the first letter, unless the first word may be code, such as `d_model`."""
    word = text.partition(" ")[0]
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text
