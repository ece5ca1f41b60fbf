"""Test verifying parts of a week, watching for changes and skipping unchanged parts."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from autograder.authoring.verify.proofs import PUBLIC, ProofJob, store_result, stored_result
from autograder.authoring.verify.week_parts import Row, Selection, Verification, find_selections
from autograder.model.course import Course, load
from autograder.model.errors import CourseError

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WEEK = "week01_tiny"
GRADER = f"autograder/graders/{WEEK}/test_weigh.py"
BANK = f"solutions/{WEEK}/misconceptions"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return load(shutil.copytree(TINY, tmp_path / "c", ignore=shutil.ignore_patterns("__pyc*")))


def job(course: Course, part: str, only: str = "") -> ProofJob:
    return ProofJob(str(course.root), WEEK, part, ("cpu",), b"secret", "", only)


def kept(course: Course, *parts: str) -> dict[str, bool]:
    course = load(course.root)
    return {part: stored_result(course, job(course, part)) is not None for part in parts}


@pytest.fixture
def proven(course: Course) -> Course:
    for part in ("weigh", "Scale", "", PUBLIC):
        proof = Verification(WEEK, 1, 2, [Row("x", part, ("t",), ("x",))], [], {"n"})
        store_result(course, job(course, part), proof)
        assert stored_result(course, job(course, part)) == proof
    return course


@pytest.mark.parametrize(
    ("name", "text", "still"),
    [
        (GRADER, "\n# more\n", {"weigh": False, "Scale": True, "": False, PUBLIC: True}),
        (f"{BANK}/ignores_dim.py", "\n", {"weigh": False, "Scale": True, "": False}),
        (f"solutions/{WEEK}/tiny.py", "\n", {"weigh": False, "Scale": False, PUBLIC: False}),
        (f"autograder/graders/{WEEK}/conftest.py", "\n", {"weigh": False, "Scale": False}),
        (f"exercises/{WEEK}/hints.md", "\n", {"weigh": True, "": False, PUBLIC: False}),
        ("course.yaml", "scoring: {follow_through: none}\n", {"weigh": False, PUBLIC: False}),
        ("README.md", "\n", {"weigh": True, "Scale": True, "": True, PUBLIC: True}),
    ],
)
def test_a_stored_result_is_valid_until_its_inputs_change(proven, name, text, still):
    with (proven.root / name).open("a", encoding="utf-8") as file:
        file.write(text)
    assert kept(proven, *still) == still


def test_draw_device_and_sandbox_are_inputs(proven):
    for other in ({"secret": b"other"}, {"devices": ("cpu", "cuda")}, {"sandbox": "x"}):
        changed = msgspec.structs.replace(job(proven, "weigh"), **other)
        assert stored_result(proven, changed) is None


def test_hidden_tests_are_not_inputs_of_public_checks(course):
    public = job(course, PUBLIC, "weigh")
    store_result(course, public, Verification(WEEK))
    path = course.root / GRADER
    path.write_text(path.read_text("utf-8") + "\n# more\n", "utf-8")
    assert stored_result(load(course.root), public) is not None
    path = course.solution(course.weeks[0])
    path.write_text(path.read_text("utf-8") + "\n# more\n", "utf-8")
    assert stored_result(load(course.root), public) is None


def test_a_result_with_gaps_is_not_stored(course):
    store_result(course, job(course, "weigh"), Verification(WEEK, gaps=["something"]))
    assert kept(course, "weigh") == {"weigh": False}


def test_a_gap_that_two_parts_report_is_listed_once():
    both = Verification(WEEK, gaps=["stale stub"])
    both.add(Verification(WEEK, gaps=["stale stub", "no title"]))
    assert both.gaps == ["stale stub", "no title"]


def test_a_result_for_one_misconception_is_not_stored(course):
    one = job(course, "weigh", "ignores_dim")
    store_result(course, one, Verification(WEEK))
    assert stored_result(course, one) is None


def test_a_damaged_file_is_ignored(proven):
    for path in (proven.state / "proofs" / WEEK).iterdir():
        path.write_text("{")
    assert kept(proven, "weigh", PUBLIC) == {"weigh": False, PUBLIC: False}


@pytest.mark.parametrize(
    ("name", "aim"),
    [
        ("weigh", Selection(WEEK, "weigh")),
        ("ignores_dim", Selection(WEEK, "weigh", "ignores_dim")),
        ("test_any_axis", Selection(WEEK, "weigh")),
        ("test_any_axis[cpu]", Selection(WEEK, "weigh")),
        ("weigh::test_any_axis", Selection(WEEK, "weigh")),
        ("test_weigh.py::test_any_axis", Selection(WEEK, "weigh")),
        (f"{GRADER}::test_any_axis", Selection(WEEK, "weigh")),
    ],
)
def test_only_accepts_an_exercise_a_misconception_or_a_test_of_an_exercise(course, name, aim):
    assert find_selections(course, list(course.weeks), name) == [aim]


def test_an_unknown_name_is_refused_with_the_closest(course):
    with pytest.raises(CourseError, match="did you mean ignores_dim"):
        find_selections(course, list(course.weeks), "ignore_dim")


def test_only_one_misconception(course, in_process):
    done = in_process("verify", "--quick", "--only", "ignores_dim", cwd=course.root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 misconception: 0 gaps" in done.stdout


def test_only_the_exercise_of_a_test(course, in_process):
    path = course.root / GRADER
    path.write_text(path.read_text("utf-8") + '\n\ndef test_new(agree):\n    """Empty."""\n')
    done = in_process("verify", "--quick", "--only", "test_new", cwd=course.root)
    assert done.returncode == 1
    gap = "no misconception fails `test_weigh.py::test_new`, so it shows nothing about a submission"
    assert f"GAP  {gap}" in done.stdout
    assert "Scale" not in done.stdout


@contextmanager
def watching(course, *words: str) -> Iterator[Callable[[str], str]]:
    """Run `verify --watch` and yield a function that reads its output up to some words."""
    command = [Path(sys.executable).parent / "autograder", "verify", "--quick", "--watch"]
    process = subprocess.Popen(
        [*command, *words, "--jobs", "1"],
        cwd=course.root,
        env=os.environ | {"NO_COLOR": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines = process.stdout

    def told(until: str) -> str:
        text = ""
        while until not in text:
            line = lines.readline()
            assert line, text
            text += line
        return text

    try:
        yield told
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # background jobs may ignore SIGINT
            process.kill()
            process.wait()
        lines.close()


@pytest.mark.thorough
def test_watching_verifies_a_changed_test_again(course):
    path = course.root / GRADER
    text = path.read_text("utf-8")
    with watching(course, "--only", "test_any_axis") as told:
        assert "name 'draw'" not in told(" gaps")
        path.write_text(
            text.replace("def test_any_axis(agree, draw):", "def test_any_axis(agree):")
        )
        told("name 'draw' is not defined")
        told(" gaps")
        path.write_text(text)
        assert "name 'draw'" not in told(" gaps")


@pytest.mark.thorough
def test_watching_a_week_verifies_the_changed_exercise_again(course):
    path = course.root / GRADER
    with watching(course) as told:
        assert "test_new" not in told(" gaps")
        path.write_text(path.read_text("utf-8") + '\n\ndef test_new(agree):\n    """Empty."""\n')
        told("no misconception fails `test_weigh.py::test_new`")


def test_q_ends_watching(course):
    controller, terminal = pty.openpty()
    command = [Path(sys.executable).parent / "autograder", "verify", "--quick", "--watch"]
    process = subprocess.Popen(
        [*command, "--only", "ignores_dim"],
        cwd=course.root,
        stdin=terminal,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout as lines:
        assert "press q or Ctrl-C" in lines.readline()
        os.write(controller, b"q")
        assert process.wait(60) == 0
    os.close(controller)
    os.close(terminal)
