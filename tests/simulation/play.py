"""Run the plan through nbgrader and the kit, week by week, with a simulated clock.

Students fetch and submit with nbgrader's own classes; only the submission time is set by hand. Each
week is collected and graded twice: at the regular due date, and after all late work.
"""

from __future__ import annotations

import csv
import datetime as dt
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeFetchAssignment, ExchangeSubmit
from traitlets.config import Config

from autograder.authoring.lesson.handout import ANSWER
from autograder.batch.grade import grade_batch
from autograder.model.availability import axis
from autograder.model.course import Course, Week, load
from autograder.nbgrader.autograde.recorder import record
from autograder.nbgrader.collect.collector import collect
from autograder.nbgrader.collect.groups import author_of
from autograder.nbgrader.collect.submissions import collected
from autograder.nbgrader.formgrader.manual_marks import keep_marks
from autograder.nbgrader.gradebook.final_scores import require_marked
from autograder.nbgrader.publish_feedback import return_feedback
from autograder.nbgrader.release.publish import release
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.simulation import trouble
from tests.simulation.plan import HandIn, Part, Plan, make_plan

PROJECT = Path(__file__).resolve().parents[2]
LATE = {"percent": 10, "per": "day", "grace_minutes": 15, "floor": 50, "slip_days": 3}
Told = Callable[[str, int], None]


@dataclass
class Played:
    course: Course
    plan: Plan
    said: list[str] = field(default_factory=list)  # all output of the steps
    trouble: list[str] = field(default_factory=list)  # problems in the simulated incidents
    seconds: dict[str, float] = field(default_factory=dict)  # by step
    jobs: int | None = None
    weeks: list[Week] = field(default_factory=list)  # weeks that were run to their end

    @property
    def parts(self) -> list[Part]:
        return [p for p in self.plan.parts.values() if p.week in self.weeks]


def make_course(root: Path, students: int, weeks: int, seed: int) -> tuple[Course, Plan]:
    """Create the project's course in a new folder, with a late policy and a class list."""
    root.mkdir(parents=True)
    for place in ("exercises", "solutions", "assets", "autograder/graders"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / place, root / place, ignore=ignored)
    registry = yaml.safe_load((PROJECT / "course.yaml").read_text(encoding="utf-8"))
    registry["weeks"] = registry["weeks"][:weeks]
    registry["late"] = dict(LATE)
    registry["suspects"] = {"seconds": 0}  # no check depends on lines, which take most of the time
    path = root / "course.yaml"
    path.write_text(yaml.safe_dump(registry), encoding="utf-8")
    plan = make_plan(load(root), students, seed)
    registry["late"]["extensions"] = [
        e | {"until": dt.datetime.fromisoformat(e["until"])} for e in plan.extensions
    ]
    path.write_text(yaml.safe_dump(registry), encoding="utf-8")
    with (root / "roster.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section"])
        table.writerow(["    Points Possible", "", "", "", ""])
        for number, student in enumerate(plan.students[1:], start=1):  # the first one was too late
            table.writerow([f"Name, {student.upper()}", 7000 + number, "", student, "A"])
        table.writerow(["Audit, Only", 8000, "", "auditor", "A"])  # and one never submits
    return load(root), plan


def steps(plan: Plan) -> int:
    return sum(len(p.hand_ins) for p in plan.parts.values()) * 2 + len(plan.parts)


def play(course: Course, plan: Plan, told: Told, jobs: int | None) -> Played:
    """Run all weeks; an interrupt stops after the last complete week."""
    played = Played(course, plan, jobs=jobs)
    trouble.prepare(course)
    try:
        for number, week in enumerate(course.weeks):
            _play_week(played, week, told)
            played.weeks.append(week)
            if number == min(trouble.DELETED_AFTER, len(course.weeks) - 1):
                lost = list(played.weeks)
                _timed(
                    played,
                    "lose it all",
                    lambda lost=lost: trouble.lose_the_gradebook(played, lost),
                )
            told(f"{week.name}: push", 0)
            _timed(
                played, "push", lambda week=week: trouble.push_to_a_canvas_that_fails(played, week)
            )
    except KeyboardInterrupt:
        played.said.append(f"interrupted in {week.name}")
    return played


def _play_week(played: Played, week: Week, told: Told) -> None:
    course, plan = played.course, played.plan
    parts = [p for p in plan.parts.values() if p.week == week]
    parts += trouble.guests_of(course, week)
    first = week.name == course.weeks[0].name
    _timed(played, "release", lambda: _release(course, week))
    due = course.localized(week.due)
    for late in (False, True):
        fresh = [(part, one) for part in parts for one in part.hand_ins if (one.time > due) == late]
        _timed(played, "submit", lambda fresh=fresh: _submit_all(course, fresh, told))
        _timed(played, "collect", lambda: _collect(played, week))
        _timed(played, "grade and record", lambda: _grade(played, week, told))
        if not late:
            trouble.refuses_what_nobody_read(played, week)
        _timed(played, "mark by hand", lambda: _mark(played, week))
        if first and not late:
            trouble.mend(played, week)
    if first:
        trouble.grant_more_time(played, week)
    _timed(played, "feedback", lambda: _feedback(played, week, told))
    if first:
        trouble.ask_again(played, week, _submit)
        _timed(played, "feedback", lambda: _feedback(played, week, told))


def _timed(played: Played, step: str, do: Callable[[], None]) -> None:
    start = time.perf_counter()
    do()
    played.seconds[step] = played.seconds.get(step, 0) + time.perf_counter() - start


def _release(course: Course, week: Week) -> None:
    release(course, week, now=course.localized(week.release) + dt.timedelta(minutes=1))


class _SubmitAt(ExchangeSubmit):
    """nbgrader's submit with the simulated clock."""

    at: dt.datetime

    def set_timestamp(self) -> None:
        self.timestamp = f"{self.at.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def _submit_all(course: Course, fresh: list[tuple[Part, HandIn]], told: Told) -> None:
    for part, one in sorted(fresh, key=lambda pair: pair[1].time):
        _submit(course, part, one)
        told(f"{part.week.name}: hand in", 1)


def _submit(course: Course, part: Part, one: HandIn) -> None:
    home = course.root / "students" / part.student
    home.mkdir(parents=True, exist_ok=True)
    folder = home / part.week.name
    if not folder.exists():
        _step(ExchangeFetchAssignment, course, part, home).start()
    (folder / part.week.module).write_text(one.source, encoding="utf-8")
    path = folder / f"{part.week.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    questions = {q.name for q in part.week.questions}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in questions:
            assert cell.source == ANSWER or cell.source.startswith(part.student)
            cell.source = one.answers
    nbformat.write(notebook, path)
    trouble.spoil(folder, part.week, part.student)
    submitting = _step(_SubmitAt, course, part, home)
    submitting.at = one.time
    submitting.start()


def _step(kind: Any, course: Course, part: Part, home: Path) -> Any:
    config = Config()
    config.CourseDirectory.course_id = course.id
    config.CourseDirectory.student_id = part.student
    config.CourseDirectory.assignment_id = part.week.name
    config.Exchange.root = str(Workspace(course).exchange)
    config.Exchange.cache = str(home / ".cache")
    config.Exchange.assignment_dir = str(home)
    coursedir = CourseDirectory(config=config)
    return kind(coursedir=coursedir, authenticator=Authenticator(config=config), config=config)


def _collect(played: Played, week: Week) -> None:
    found = collect(played.course, week, check_owner=False)  # one user submits for all students
    _say(played, week, found.notes)


def _say(played: Played, week: Week, lines: list[str]) -> None:
    """Record the output of a step; problems of guests are expected."""
    told = [line for line in lines if not any(guest in line for guest in trouble.GUESTS)]
    played.said += [f"{week.name}: {line}" for line in told]


def _grade(played: Played, week: Week, told: Told) -> None:
    course = played.course
    told(f"{week.name}: grade and record", 0)
    report = grade_batch(course, week, collected(course, week), devices=axis(), jobs=played.jobs)
    faults = [s for s in report.submissions if s.verdict != "graded"]
    played.said += [f"{week.name}: {s.name}: {s.verdict}: {s.message}" for s in faults]
    said = record(course, week, report)
    told(f"{week.name}: grade and record", len(report.submissions))
    wanted = f"{len(report.submissions)} of {len(report.submissions)} recorded in the gradebook"
    _say(played, week, [line for line in said.lines() if line != wanted])


def _mark(played: Played, week: Week) -> None:
    """Mark all unmarked answers, as Formgrader does."""
    points = {q.name: q.points for q in week.questions}
    with open_gradebook(played.course) as gradebook:
        for submission in gradebook.find_assignment(week.name).submissions:
            part = played.plan.parts.get((submission.student.id, week.name))
            if part is None:  # a guest; one member is marked for the whole group
                _mark_guest(played, week, submission)
                continue
            shown = _collected_answer(played.course, part)
            for grade in (g for n in submission.notebooks for g in n.grades):
                if grade.needs_manual_grade:
                    grade.manual_score = played.plan.mark(
                        part.student, grade.name, points[grade.name], shown
                    )
                    grade.needs_manual_grade = False
        gradebook.db.commit()
    keep_marks(played.course)  # as Formgrader does it


def _mark_guest(played: Played, week: Week, submission: Any) -> None:
    if author_of(played.course, week, submission.student.id) == submission.student.id:
        for grade in (g for n in submission.notebooks for g in n.grades):
            if grade.needs_manual_grade:
                grade.manual_score, grade.needs_manual_grade = 1.0, False


def _collected_answer(course: Course, part: Part) -> str:
    path = Workspace(course).autograded(part.student, part.week) / f"{part.week.name}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    asked = part.week.questions[0].name
    return next(
        str(c.source) for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == asked
    )


def _feedback(played: Played, week: Week, told: Told) -> None:
    require_marked(played.course, [week])  # and gives a group's marks to all members
    keep_marks(played.course)
    returned = return_feedback(
        played.course, week, on_done=lambda: told(f"{week.name}: feedback", 1)
    )
    _say(played, week, returned.notes)
