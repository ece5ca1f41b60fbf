"""Handing out the solutions of a week, when nobody can hand it in without losing points any more.

What goes out is the week as students know it, with the module solved, the model answers and their
rubric in the places of the answers, and a page of common mistakes. What stays: hidden tests, and
the code of misconceptions and alternatives, so that next year's class meets them unprepared.

It is released through nbgrader as an assignment of its own, `<week>-solutions`, because nbgrader
gives nobody a second copy of one that they have; the same files lie in nbgrader's release/ folder.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from ...authoring.lesson.handout import week_files
from ...authoring.lesson.leak_check import check_files, check_folder, secrets_of
from ...authoring.lesson.lesson_notebook import ANSWER, Notebook, lesson_notebook
from ...authoring.lesson.marking_guide import MarkingGuide, answers_text, marking_guides
from ...model.course.bank import Bank
from ...model.course.late import due_for
from ...model.course.loader import Course, Week
from ...model.course.registry import Late
from ...model.course.stubs import without_marks
from ...model.errors import LeakError, NbgraderError
from ...student.folder.week import SUFFIX_OF_SOLUTIONS
from ..gradebook.database import read_gradebook
from ..workspace import Workspace
from .publish import hand_out, replace_folder

MISTAKES = "MISTAKES.md"


@dataclass(frozen=True)
class SolutionsOut:
    """Where the solutions are, for nbgrader and as files."""

    name: str
    files: list[str]
    folder: Path
    notes: list[str] = field(default_factory=list)  # what is to be looked at


def release_solutions(
    course: Course, week: Week, *, now: dt.datetime | None = None
) -> SolutionsOut:
    """Hand out a week's solutions; raises NbgraderError while work is accepted without loss."""
    now = now or dt.datetime.now(dt.UTC)
    _check_over(course, week, now)
    workspace, name = Workspace(course), f"{week.name}{SUFFIX_OF_SOLUTIONS}"
    if not workspace.outbound(week).is_dir():
        raise NbgraderError(
            f"{week.name} was not released yet, so neither are its solutions: "
            f"`autograder release {week.name}`"
        )
    files = solution_files(course, week)
    secrets = secrets_of(course, week, _handed_out(files, course, week))
    check_files(files, secrets, f"release/{name}")
    folder = workspace.released(week).with_name(name)
    replace_folder(folder, files)
    hand_out(course, name)
    outbound = workspace.outbound(week).with_name(name)
    try:
        check_folder(outbound, secrets, files)
    except LeakError:
        shutil.rmtree(outbound)
        raise
    return SolutionsOut(name, sorted(files), folder, list(_still_accepted(course, week)))


def solution_files(course: Course, week: Week) -> dict[str, bytes]:
    """The week's files, solved."""
    files = week_files(course, week)
    solved = without_marks(Bank(course, week).solution)
    files[week.module] = solved.encode()
    files[f"{week.name}.ipynb"] = nbformat.writes(_solved_lesson(course, week), version=4).encode()
    files[MISTAKES] = _mistakes(course, week).encode()
    return files


def last_moment(course: Course, week: Week) -> tuple[dt.datetime, str]:
    """When the last student can hand in without loss, and who that is; "" if it is everybody.

    Extensions of course.yaml and of the gradebook, slip days and the grace period count.
    """
    students, entries = read_gradebook(course)
    policy = course.registry.late or Late(percent=0)
    more = {e.student: e.extension for e in entries if e.week == week.name}
    named = {e.student for e in policy.extensions if e.week == week.name}
    dues = {
        student: due_for(course, week, student, more.get(student, dt.timedelta()))
        for student in sorted({*students, *more, *named})
    }
    usual = due_for(course, week, "")
    last, who = max(
        [(usual, ""), *((due, student) for student, due in dues.items())],
        key=lambda found: found[0].astimezone(dt.UTC),
    )
    slip = dt.timedelta(days=policy.slip_days, minutes=policy.grace_minutes)
    return last + slip, "" if last == usual else who


def _check_over(course: Course, week: Week, now: dt.datetime) -> None:
    moment, who = last_moment(course, week)
    if now <= moment:
        whose = f"{who} has an extension and " if who else "students "
        raise NbgraderError(
            f"the solutions of {week.name} stay here: {whose}can hand in without loss until "
            f"{moment:%A %d %B %Y, %H:%M} ({course.zone})"
        )


def _still_accepted(course: Course, week: Week) -> Iterator[str]:
    """Late work may still earn points, and what comes now may be copied from the solutions."""
    policy = course.registry.late
    if policy is None or policy.percent == 0 or policy.floor:
        yield (
            "late work is never worthless by the rules of course.yaml, so whoever hands in from "
            "now on may have copied: look at what `collect` brings"
        )


def _handed_out(files: dict[str, bytes], course: Course, week: Week) -> str:
    """The texts that the solutions make public."""
    module, mistakes = files[week.module], files[MISTAKES]
    return "\n".join((module.decode(), mistakes.decode(), answers_text(course, week)))


def _solved_lesson(course: Course, week: Week) -> Notebook:
    """The lesson with answers; no cell is graded, so it is nothing to hand in."""
    notebook, guides = lesson_notebook(course, week), marking_guides(course, week)
    for cell in notebook.cells:
        grading = cell.metadata.pop("nbgrader", None)
        if grading and cell.source == ANSWER and grading["grade_id"] in guides:
            cell.source = _answered(guides[grading["grade_id"]])
    return notebook


def _answered(guide: MarkingGuide) -> str:
    parts = ["**A model answer.**", guide.model_answer, "**How it was marked.**"]
    parts.append("\n".join(f"- {line.points:g}: {line.earned_by}" for line in guide.rubric))
    return "\n\n".join(parts)


def _mistakes(course: Course, week: Week) -> str:
    """What is often believed, how it shows, and the hint, by exercise."""
    bank = Bank(course, week)
    parts = [f"# {week.title}: common mistakes"]
    for exercise in week.exercises:
        found = bank.of_exercise(exercise.name)
        if found:
            parts.append(f"## {exercise.name}")
            parts.append("\n".join(f"- **{m.title}** {_sentence(m.shows)} {m.hint}" for m in found))
    return "\n\n".join(parts) + "\n"


def _sentence(text: str) -> str:
    """With a capital letter, unless it begins with something of Python's."""
    word = text.partition(" ")[0]
    return text[0].upper() + text[1:] if word.isalpha() and word.islower() else text
