"""Faults of our own: named, tried again once, loud, and never a student's zero."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

BUG = '''
import os


def test_with_a_bug(agree, draw):
    """A property that this test meant to ask for."""
    with open(os.environ["ATTEMPTS"], "a") as file:
        file.write("x")
    agree.weigh(draw.normal(3, 5))
    raise LookupError("hidden values 0.123456")
'''


@pytest.fixture
def buggy(classroom, tmp_path: Path):
    grader = classroom.course / "autograder/graders/week01_tiny/test_weigh.py"
    sound = grader.read_text(encoding="utf-8")
    grader.write_text(sound + BUG, encoding="utf-8")
    classroom.paths = classroom.paths[:1] + classroom.paths[5:6]
    classroom.attempts = tmp_path / "attempts"
    classroom.mend = lambda: grader.write_text(sound, encoding="utf-8")
    return classroom


@pytest.mark.thorough
def test_a_bug_in_a_hidden_test_is_attributed_to_the_test(buggy, right) -> None:
    code, _ = buggy.grade("--jobs", "1", ATTEMPTS=str(buggy.attempts))
    assert code == 1
    report = json.loads(buggy.report.read_text(encoding="utf-8"))
    for submission in report["submissions"]:
        assert submission["verdict"] == "grader_fault"
        assert "test_weigh.py::test_with_a_bug (test_weigh.py:" in submission["message"]
        assert ": LookupError" in submission["message"]
        assert "not the submission" in submission["message"]
    assert len(buggy.attempts.read_text()) == 2 * 2 + 1, (
        "each is tried again once, the solution too"
    )
    assert not buggy.stored(), "a fault was stored as a result"
    buggy.mend()
    assert buggy.grade("--jobs", "1")[0] == 0
    assert buggy.scores() == {n: right[n] for n in ("student00", "student05")}


@pytest.mark.thorough
def test_a_grader_that_cannot_be_collected_is_named(classroom) -> None:
    grader = classroom.course / "autograder/graders/week01_tiny/test_weigh.py"
    grader.write_text("def test_x(:\n", encoding="utf-8")
    classroom.faulty = True
    code, _ = classroom.grade("--jobs", "1")
    assert code == 1
    assert {v for v, _ in classroom.scores().values()} == {"grader_fault"}
    assert "test_weigh.py" in classroom.report.read_text(encoding="utf-8")


def test_a_missing_sandbox_is_one_line_with_the_remedy(classroom) -> None:
    code, errors = classroom.grade("--sandbox", "bubblewrap", PATH="/nonexistent")
    assert code == 2
    assert len(errors.strip().splitlines()) == 1
    assert "apt-get install bubblewrap" in errors
    assert not classroom.report.exists()


def test_no_sandbox_at_all_is_refused_not_weakened(classroom) -> None:
    code, errors = classroom.grade("--sandbox", "vault")
    assert code == 2
    assert "unknown sandbox 'vault'" in errors


def test_an_unprotected_run_shouts_and_marks_its_report(classroom) -> None:
    classroom.paths = classroom.paths[:1]
    process = classroom.start("--sandbox", "none", "--jobs", "1")
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "WARNING" in output
    report = json.loads(classroom.report.read_text(encoding="utf-8"))
    assert report["sandbox"] == "none"


@pytest.mark.thorough
def test_results_of_an_unprotected_run_are_not_taken_for_protected_ones(classroom) -> None:
    classroom.paths = classroom.paths[:1]
    assert classroom.grade("--sandbox", "none", "--jobs", "1")[0] == 0
    assert len(classroom.stored()) == 1
    assert classroom.grade("--jobs", "1")[0] == 0
    assert len(classroom.stored()) == 2


@pytest.mark.thorough
def test_a_spoilt_result_is_graded_again(classroom, right) -> None:
    assert classroom.grade("--jobs", "1")[0] == 0
    for number, path in enumerate((classroom.course / ".autograder/results").glob("*/*/*.json")):
        path.write_bytes(
            (b"", b"{", b"\xff\xfe", b"[" * 100_000, path.read_bytes()[:-5])[number % 5]
        )
    assert classroom.grade("--jobs", "1")[0] == 0
    assert classroom.scores() == right


@pytest.mark.thorough
def test_options_of_the_instructors_own_pytest_change_nothing(classroom, right) -> None:
    strange = {"PYTEST_ADDOPTS": "--no-such-option -k nothing", "PYTEST_PLUGINS": "no_such_plugin"}
    assert classroom.grade("--jobs", "1", **strange)[0] == 0
    assert classroom.scores() == right


@pytest.mark.thorough
def test_controls(classroom, right) -> None:
    """The solution earns full marks and the stub none, despite every other fault."""
    assert classroom.grade("--jobs", "1")[0] == 0
    scores = classroom.scores()
    assert scores["student00"] == ("graded", 5.0)
    assert scores["student03"] == ("graded", 0.0)
    assert os.path.exists(classroom.report)
