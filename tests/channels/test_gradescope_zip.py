"""The autograder zip of Gradescope, and the results.json that it writes.

The shape of results.json is that of Gradescope's published specification of autograders.
"""

from __future__ import annotations

import io
import json
import shutil
import stat
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.channels.gradescope_zip import GradescopeSettings, autograder_zip, results
from autograder.cli import run
from autograder.feedback.render import escaped, exercise_text, submission_text
from autograder.files import course_secret
from autograder.grading.engine import Engine
from autograder.model.course import Course, load
from autograder.model.errors import KitError
from autograder.model.report.schema import (
    Diagnosis,
    Ending,
    ExerciseReport,
    SubmissionReport,
    Verdict,
)
from autograder.model.report.schema import TestReport as HiddenTest

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = GradescopeSettings("week01_softmax")


@pytest.fixture(scope="module")
def course() -> Course:
    return load(PROJECT)


@pytest.fixture(scope="module")
def packed(course: Course) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(autograder_zip(course, SETTINGS)))


def test_what_gradescope_asks_for_lies_at_the_root_and_can_be_run(packed: zipfile.ZipFile) -> None:
    for name in ("setup.sh", "run_autograder"):
        assert stat.S_IMODE(packed.getinfo(name).external_attr >> 16) == 0o755
        assert packed.read(name).startswith(b"#!/usr/bin/env bash")


def test_everything_else_is_its_owners_alone(packed: zipfile.ZipFile) -> None:
    open_ = [i.filename for i in packed.infolist() if i.external_attr >> 16 & 0o077]
    assert open_ == ["run_autograder", "setup.sh"]


def test_of_other_weeks_nothing_goes_along(course: Course, packed: zipfile.ZipFile) -> None:
    others = [w.name for w in course.weeks[1:]]
    for name in packed.namelist():
        assert not any(other in name for other in others)
    assert not any(o.encode() in packed.read("course.yaml") for o in others)


def test_modules_that_hidden_tests_call_are_included(course: Course) -> None:
    content = autograder_zip(course, GradescopeSettings("week08_serving"))
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert "assets/toys.py" in archive.namelist()
    assert b"toys.py" in archive.read("course.yaml")


def test_arrays_that_hidden_tests_read_are_included(course: Course, tmp_path: Path) -> None:
    content = autograder_zip(course, GradescopeSettings("week10_llama"))
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    made = load(tmp_path, unfinished=True)
    with closing(Engine(made, made.week("week10_llama"), ("cpu",), b"secret", None)) as engine:
        report = engine.grade("ada", {"llama.py": engine.bank.solution.encode()}, "load_weights")
    assert report.verdict is Ending.GRADED
    (graded,) = (e for e in report.exercises if e.name == "load_weights")
    assert graded.score == graded.max_score


def test_the_courses_secret_stays_here(course: Course, packed: zipfile.ZipFile) -> None:
    secret = course_secret(course)
    assert len(packed.read(".autograder/secret")) == 32
    assert all(secret not in packed.read(name) for name in packed.namelist())


def test_the_instructors_own_rooms_stay_here(packed: zipfile.ZipFile) -> None:
    rooms = {n.split("/")[1] for n in packed.namelist() if n.startswith("autograder/")}
    assert not rooms & {"nbgrader", "cli", "authoring", "student", "similarity", "lms"}


def test_it_is_the_same_twice(course: Course) -> None:
    assert autograder_zip(course, SETTINGS) == autograder_zip(course, SETTINGS)


def test_what_was_unpacked_is_a_course_that_loads(packed: zipfile.ZipFile, tmp_path: Path) -> None:
    packed.extractall(tmp_path)
    made = load(tmp_path, unfinished=True)
    assert [w.name for w in made.weeks] == ["week01_softmax"]


@pytest.mark.parametrize(("option", "value"), [("visibility", "after_lunch"), ("feedback", "pdf")])
def test_a_setting_that_gradescope_lacks_is_named(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "week01", "--gradescope", f"--{option}", value]) == 2
    assert f"--{option}" in capsys.readouterr().err


def test_the_file_is_its_owners_alone(tmp_path: Path, in_process) -> None:
    path = tmp_path / "week.zip"
    course = shutil.copytree(TINY, tmp_path / "course")
    assert in_process("export", "1", "--gradescope", "--out", path, cwd=course).returncode == 0
    assert path.stat().st_mode & 0o777 == 0o600


# results.json

WRONG = HiddenTest("test_weigh.py::test_a[cpu]", Verdict.WRONG, 1.0, "off by <b>2</b>", claim="A.")
PUBLIC = HiddenTest("test_weigh.py::test_b[cpu]", Verdict.PASS, 1.0, public=True, claim="B.")


def submission(course: Course, *tests: HiddenTest, **more: object) -> SubmissionReport:
    week = course.weeks[0]
    first = week.exercises[0]
    found = Diagnosis("halves", "Halves it.", "Try *this*.")
    exercises = (
        ExerciseReport(first.name, first.points / 2, first.points, ("halves",), tests, (found,)),
        *(ExerciseReport(e.name, 0.0, e.points) for e in week.exercises[1:]),
    )
    return SubmissionReport("s", Ending.GRADED, first.points / 2, 9.0, 0.1, "", exercises)


def shown(course: Course, report: SubmissionReport, **more: str) -> dict[str, object]:
    week = course.weeks[0]
    return results(report, week, GradescopeSettings(week.name, **more))


def test_results_have_partial_credit_and_a_visibility_for_each_exercise() -> None:
    course = load(TINY)
    found = shown(course, submission(course, WRONG, PUBLIC), visibility="after_published")
    (public, *exercises) = found["tests"]  # type: ignore[misc]
    first = course.weeks[0].exercises[0]
    assert found["score"] == first.points / 2
    assert (public["name"], public["visibility"]) == (
        f"{first.name}, public tests: 1 of 1",
        "visible",
    )
    assert (exercises[0]["score"], exercises[0]["max_score"]) == (first.points / 2, first.points)
    assert {e["visibility"] for e in exercises} == {"after_published"}
    assert "&lt;b&gt;2" in exercises[0]["output"]
    assert found["stdout_visibility"] == "hidden"


def test_feedback_may_be_markdown_in_which_nothing_of_a_students_is_markup() -> None:
    course = load(TINY)
    output = shown(course, submission(course, WRONG), feedback="md")["tests"][0]["output"]  # type: ignore[index]
    assert "Try \\*this\\*\\." in output
    assert "\\<b\\>2" in output


def test_a_fault_of_ours_is_no_result() -> None:
    course = load(TINY)
    fault = msgspec.structs.replace(submission(course), verdict=Ending.GRADER_FAULT)
    with pytest.raises(KitError, match="system error"):
        shown(course, fault)


def test_a_refused_submission_reads_why() -> None:
    course = load(TINY)
    refused = msgspec.structs.replace(
        submission(course), verdict=Ending.REFUSED, message="weigh.py is missing."
    )
    assert shown(course, refused)["output"] == "weigh\\.py is missing\\."


def test_text_for_a_comment_has_hints_and_the_points() -> None:
    course = load(TINY)
    text = exercise_text(submission(course, WRONG).exercises[0])
    assert "looks as if your code halves it. Try *this*." in text
    assert text.splitlines()[0].endswith("points")


def test_code_stays_code_in_markdown() -> None:
    assert escaped("`a_b` and a_b\x1b[2J") == "`a_b` and a\\_b�\\[2J"


@pytest.mark.parametrize(
    "path", sorted((TINY.parent / "expected").glob("*.json")), ids=lambda path: path.stem
)
def test_no_secret_line_stands_in_what_students_read(path: Path) -> None:
    course = load(TINY)
    week = course.weeks[0]
    secrets = secrets_of(course, week)
    report = msgspec.convert(json.loads(path.read_bytes()) | {"seconds": 0.0}, SubmissionReport)
    texts = {"comment": submission_text(report, week)}
    for form in ("md", "html"):
        settings = GradescopeSettings(week.name, feedback=form)
        texts[form] = json.dumps(results(report, week, settings))
    check_files({name: text.encode() for name, text in texts.items()}, secrets, path.name)
    assert secrets
