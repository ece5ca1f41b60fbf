"""Run a course week from the students' and the instructor's side, with nbgrader's own commands.

Ada's work is correct, Alan forgot the scale, Donald has an endless loop. One user plays all three,
which nbgrader allows: each has a home, a Jupyter data folder and a working folder.
"""

from __future__ import annotations

import ast
import csv
import datetime as dt
import html
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.lesson.leak_check import secrets_of
from autograder.model.course import Course, Week, load
from autograder.model.course.bank import Bank
from autograder.model.report.schema import Report, SubmissionReport, from_json
from autograder.nbgrader.demo import module_of, sample_class
from autograder.nbgrader.workspace import Workspace, open_gradebook
from tests.courses import copy_course
from tests.standings import WeekStanding, standings

pytestmark = pytest.mark.thorough
WEEK = "week01_softmax"
STUDENTS = ("ada", "alan", "donald")
PROGRAMS = Path(sys.executable).parent
SAID_OF_ALAN = "computes scores that are not divided by √d."
COMMENT = "Say what the root *undoes*: $\\sqrt{d}$."


@dataclass
class Person:
    """A terminal user with a working folder and separate environment variables."""

    folder: Path
    home: Path

    def run(self, program: str, *arguments: str | Path) -> str:
        """Run a command and return its output. It must succeed."""
        done = subprocess.run(
            [PROGRAMS / program, *map(str, arguments)],
            cwd=self.folder,
            env={
                "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.home),
                "JUPYTER_CONFIG_DIR": str(self.home / "config"),
                "JUPYTER_DATA_DIR": str(self.home / "data"),
                "JUPYTER_PLATFORM_DIRS": "1",
                "OMP_NUM_THREADS": "1",
                "NO_COLOR": "1",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        # one user submits for all of them, so the owners differ, which is reported
        fine = (0, 1) if "collect" in arguments else (0,)
        assert done.returncode in fine, f"{program} {arguments}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@dataclass
class Played:
    """The state at the end of the week."""

    course: Course
    report: Report  # of `autograder grade`
    graded: dict[str, WeekStanding]  # the gradebook after `autograder grade`
    autograded: dict[str, WeekStanding]  # and after `nbgrader autograde`
    pages: dict[str, str]  # files that each student fetched
    exported: dict[str, dict[str, str]]
    collected: str

    @property
    def week(self) -> Week:
        return self.course.weeks[0]

    def of(self, student: str) -> SubmissionReport:
        return next(s for s in self.report.submissions if s.name == student)


def make_course(root: Path) -> Course:
    def donalds_loop_runs_this_long(registry: dict[str, Any]) -> None:
        registry["limits"] |= {"exercise_seconds": 15}

    return load(copy_course(root, [WEEK], donalds_loop_runs_this_long))


def make_student(name: str, folder: Path, course: Course) -> Person:
    """Create a student's home, configured as the instructor would for all of them."""
    person = Person(folder / name, folder / name / "home")
    config = person.home / "config" / "nbgrader_config.py"
    config.parent.mkdir(parents=True)
    config.write_text(
        f"c.Exchange.root = {str(Workspace(course).exchange)!r}\n"
        f"c.CourseDirectory.course_id = {course.id!r}\n",
        encoding="utf-8",
    )
    return person


def hand_in(name: str, person: Person, course: Course) -> None:
    week = course.weeks[0]
    pupil = next(p for p in sample_class(course) if p.name == name)
    person.run("nbgrader", "fetch_assignment", WEEK)
    module = person.folder / WEEK / week.module
    assert "raise NotImplementedError" in module.read_text(encoding="utf-8")
    wrong = ("compares_without_scaling",) if name == "alan" else ()
    bank = Bank(course, week)
    source = module_of(bank, type(pupil)(name, "", wrong=wrong, trouble=pupil.trouble))
    module.write_text(source, encoding="utf-8")
    person.run("nbgrader", "submit", WEEK, f"--student={name}")


def forget_scores(course: Course) -> None:
    """Clear the automatic scores, so that the next command must fill them."""
    with open_gradebook(course) as gradebook:
        for submission in gradebook.find_assignment(WEEK).submissions:
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    grade.auto_score = None
        gradebook.db.commit()


def mark_alan(course: Course) -> None:
    """Add a mark and a comment as in Formgrader, two days and three hours after the due date."""
    registry = course.root / "course.yaml"
    policy = "late: {percent: 10, slip_days: 1}\n"
    registry.write_text(registry.read_text(encoding="utf-8") + policy, encoding="utf-8")
    handed_in = course.localized(course.weeks[0].due) + dt.timedelta(days=2, hours=3)
    with open_gradebook(course) as gradebook:
        when = handed_in.astimezone(dt.UTC).replace(tzinfo=None)
        gradebook.update_or_create_submission(WEEK, "alan", timestamp=when.isoformat(" "))
        grade = gradebook.find_grade("scale", WEEK, WEEK, "alan")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.find_comment("scale", WEEK, WEEK, "alan").manual_comment = COMMENT
        gradebook.db.commit()


def by_student(course: Course) -> dict[str, WeekStanding]:
    return {s.student: s for s in standings(course, course.weeks[0])}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("week")
    course = make_course(folder / "course")
    instructor = Person(course.root, folder / "home")
    instructor.run("autograder", "release", "week01", "--early", "--unproven")
    people = {name: make_student(name, folder, course) for name in STUDENTS}
    with ThreadPoolExecutor(len(STUDENTS)) as pool:
        list(pool.map(lambda name: hand_in(name, people[name], course), STUDENTS))
    collected = instructor.run("autograder", "collect", "week01")
    instructor.run("autograder", "grade", "week01", "--json", "report.json")
    graded = by_student(course)
    forget_scores(course)
    desk = Person(Workspace(course).root, instructor.home)
    desk.run("nbgrader", "autograde", WEEK, "--force")
    autograded = by_student(course)
    desk.run("nbgrader", "export", "--to", "grades.csv", "--QuotedCsvExport.unmarked=True")
    mark_alan(course)
    desk.run("nbgrader", "generate_feedback", WEEK, "--OnlyMarked.unmarked=True")
    desk.run("nbgrader", "release_feedback", WEEK)
    with ThreadPoolExecutor(len(STUDENTS)) as pool:
        list(
            pool.map(
                lambda name: people[name].run(
                    "nbgrader", "fetch_feedback", WEEK, f"--student={name}"
                ),
                STUDENTS,
            )
        )
    pages = {}
    for name, person in people.items():
        (page,) = (person.folder / WEEK / "feedback").rglob("*.html")
        pages[name] = page.read_text(encoding="utf-8")
    with (desk.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        exported = {row["student"]: row for row in csv.DictReader(file)}
    report = from_json((course.root / "report.json").read_bytes())
    return Played(course, report, graded, autograded, pages, exported, collected)


def words(page: str) -> str:
    """Return the page's text on one line."""
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    text = re.sub(r"<(?=(?:td|th|small|li|p)\b)", " <", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def readable(page: str) -> str:
    """Return the text of a page without tags and whitespace, as the leak check compares texts."""
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def docstrings(folder: Path) -> str:
    """Return the requirements and hints of graders and misconceptions, which students may read."""
    said = []
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)):
                said.append(ast.get_docstring(node) or "")
    return "".join("".join(said).split())


def test_everybody_is_collected(played: Played) -> None:
    assert "collected 3 new" in played.collected


def test_what_is_right_gets_everything(played: Played) -> None:
    assert played.of("ada").score == played.of("ada").max_score == 13


def test_the_misconception_is_named(played: Played) -> None:
    exercise = next(e for e in played.of("alan").exercises if e.diagnosis)
    assert exercise.name == "scaled_dot_product_attention"
    assert exercise.diagnosis[0] == "compares_without_scaling"


def test_an_endless_loop_costs_its_exercise_and_no_other(played: Played) -> None:
    scores = {e.name: (e.score, e.max_score) for e in played.of("donald").exercises}
    assert scores.pop("ascii_heatmap") == (0, 1)
    assert all(score == most for score, most in scores.values())


@pytest.mark.parametrize("student", STUDENTS)
def test_grade_fills_the_gradebook(played: Played, student: str) -> None:
    exercises = {e.name: e.score for e in played.of(student).exercises}
    assert played.graded[student].scores == exercises | {"scale": 0, "two_sentences": 0}


@pytest.mark.parametrize("student", STUDENTS)
def test_nbgraders_autograde_gives_the_same_scores(played: Played, student: str) -> None:
    assert played.autograded[student] == played.graded[student]


@pytest.mark.parametrize("student", STUDENTS)
def test_the_export_holds_the_score(played: Played, student: str) -> None:
    exported = float(played.exported[student][WEEK])
    assert exported == pytest.approx(played.of(student).score, abs=0.005)


def test_the_diagnosis_stands_in_the_fetched_feedback(played: Played) -> None:
    assert SAID_OF_ALAN in html.unescape(played.pages["alan"])
    assert SAID_OF_ALAN not in html.unescape(played.pages["ada"])


@pytest.mark.parametrize(
    "said",
    [
        "What to do next",
        "see the likely mistake below.",
        "2 days 3 h late, 1 slip day used, 10 % per day",
        "1.5 of 2",
        "Say what the root undoes: d.",
        "scale written answer Marked 1.5 of 2",
        "two_sentences written answer Not answered 0 of 2",
        "Your notebook, with the marks",
        "Written question 1: is it only a constant?",
    ],
)
def test_the_fetched_page_says(played: Played, said: str) -> None:
    assert said in words(played.pages["alan"])


def test_the_fetched_page_says_what_counts_after_two_days(played: Played) -> None:
    total = 0.8 * (played.of("alan").score + 1.5)
    shown = f"{total:.2f}".rstrip("0").rstrip(".")
    assert f"{shown} of 17 points" in words(played.pages["alan"])


def test_the_named_misconception_comes_with_its_hint(played: Played) -> None:
    exercise = next(e for e in played.of("alan").exercises if e.diagnosis)
    assert words(exercise.explained[0].hint) in words(played.pages["alan"]).replace("`", "")


def test_the_notebook_comes_after_all_that_is_said_of_it(played: Played) -> None:
    page = words(played.pages["alan"])
    parts = ("What to do next", "Your written answers", "Your notebook, with the marks")
    assert sorted(parts, key=page.index) == list(parts)


@pytest.mark.parametrize("student", STUDENTS)
def test_the_fetched_page_is_one_file_without_a_script(played: Played, student: str) -> None:
    page = played.pages[student]
    assert not re.search(r"<script|<link|<iframe|javascript:| on[a-z]+=|src=.(?!data:image)", page)


@pytest.mark.parametrize("student", STUDENTS)
def test_no_secret_line_stands_in_the_feedback(played: Played, student: str) -> None:
    course, week = played.course, played.week
    text = readable(played.pages[student])
    meant = docstrings(course.graders(week)) + docstrings(course.solution_folder(week))
    secrets = [s for s in secrets_of(course, week) if s.text not in meant]
    assert len(secrets) > 300
    assert [s.origin for s in secrets if s.text in text] == []
