"""Parts of a proof: one alone, again at a save, and not again what has not changed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.authoring.verify.proof import Row, Verification
from autograder.authoring.verify.proof_cache import PUBLIC, ProofBook
from autograder.authoring.verify.selection import Aim, Written, aims
from autograder.model.course.loader import Course, load
from autograder.model.errors import BankError

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WEEK = "week01_tiny"
GRADER = f"autograder/graders/{WEEK}/test_weigh.py"
BANK = f"solutions/{WEEK}/misconceptions"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return load(shutil.copytree(TINY, tmp_path / "c", ignore=shutil.ignore_patterns("__pyc*")))


def book(course: Course) -> ProofBook:
    course = load(course.root)
    return ProofBook(course, course.week(WEEK), ("cpu",), b"secret", "")


def kept(course: Course, *parts: str) -> dict[str, bool]:
    return {part: book(course).recall(part) is not None for part in parts}


@pytest.fixture
def proven(course: Course) -> Course:
    for part in ("weigh", "Scale", "", PUBLIC):
        proof = Verification(WEEK, 1, 2, [Row("x", part, ("t",), ("x",))], [], {"n"})
        book(course).keep(part, proof)
        assert book(course).recall(part) == proof
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
def test_a_proof_holds_for_what_it_read(proven, name, text, still):
    with (proven.root / name).open("a", encoding="utf-8") as file:
        file.write(text)
    assert kept(proven, *still) == still


def test_another_draw_another_device_or_a_sandbox_is_another_proof(proven):
    week = proven.week(WEEK)
    for other in (
        (("cpu",), b"other", ""),
        (("cpu", "cuda"), b"secret", ""),
        (("cpu",), b"secret", "x"),
    ):
        assert ProofBook(proven, week, *other).recall("weigh") is None


def test_what_students_get_of_one_exercise_holds_although_its_hidden_tests_change(course):
    part = f"{PUBLIC}-weigh"
    book(course).keep(part, Verification(WEEK))
    path = course.root / GRADER
    path.write_text(path.read_text("utf-8") + "\n# more\n", "utf-8")
    assert kept(course, part) == {part: True}
    path = course.solution(course.weeks[0])
    path.write_text(path.read_text("utf-8") + "\n# more\n", "utf-8")
    assert kept(course, part) == {part: False}


def test_a_gap_is_not_kept(course):
    book(course).keep("weigh", Verification(WEEK, gaps=["something"]))
    assert kept(course, "weigh") == {"weigh": False}


def test_a_damaged_file_is_no_proof(proven):
    for path in (proven.state / "proofs" / WEEK).iterdir():
        path.write_text("{")
    assert kept(proven, "weigh", PUBLIC) == {"weigh": False, PUBLIC: False}


@pytest.mark.parametrize(
    ("name", "aim"),
    [
        ("weigh", Aim(WEEK, "weigh")),
        ("ignores_dim", Aim(WEEK, "weigh", "ignores_dim")),
        ("test_any_axis", Aim(WEEK, "weigh", test="test_any_axis")),
        ("test_any_axis[cpu]", Aim(WEEK, "weigh", test="test_any_axis")),
        ("weigh::test_any_axis", Aim(WEEK, "weigh", test="test_any_axis")),
        ("test_weigh.py::test_any_axis", Aim(WEEK, "weigh", test="test_any_axis")),
        (f"{GRADER}::test_any_axis", Aim(WEEK, "weigh", test="test_any_axis")),
    ],
)
def test_only_takes_an_exercise_a_misconception_or_a_test(course, name, aim):
    assert aims(course, list(course.weeks), name) == [aim]


def test_a_name_that_is_unknown_is_refused_with_the_nearest(course):
    with pytest.raises(BankError, match="did you mean ignores_dim"):
        aims(course, list(course.weeks), "ignore_dim")


def test_one_misconception_alone(course, in_process):
    done = in_process("verify", "--quick", "--only", "ignores_dim", cwd=course.root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 misconceptions: 0 gaps" in done.stdout


def test_one_test_alone_and_what_it_lets_pass(course, in_process):
    path = course.root / GRADER
    path.write_text(path.read_text("utf-8") + '\n\ndef test_new(agree):\n    """Nothing."""\n')
    done = in_process("verify", "--quick", "--only", "test_new", cwd=course.root)
    assert done.returncode == 1
    assert [line for line in done.stdout.split("\n") if line.startswith("GAP")] == [
        "GAP  the stub passes test_weigh.py::test_new",
        "GAP  test_weigh.py::test_new proves nothing: no misconception fails it",
    ]


@contextmanager
def watching(course, *words: str) -> Iterator[Callable[[str], str]]:
    """`verify --watch`; what it gives reads what was printed up to some words."""
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

    def told(until: str = "waiting for a save") -> str:
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
        except subprocess.TimeoutExpired:  # who runs the tests in the background ignores it
            process.kill()
            process.wait()
        lines.close()


def test_watching_proves_again_what_a_save_has_changed(course):
    path = course.root / GRADER
    text = path.read_text("utf-8")
    with watching(course, "--only", "test_any_axis") as told:
        assert ": 0 gaps" in told()
        path.write_text(
            text.replace("def test_any_axis(agree, draw):", "def test_any_axis(agree):")
        )
        assert "name 'draw' is not defined" in told()
        path.write_text(text)
        assert ": 0 gaps" in told()


def test_watching_an_exercise_proves_the_changed_test_first(course):
    path = course.root / GRADER
    with watching(course, "--only", "weigh") as told:
        assert "test_new" not in told()
        path.write_text(path.read_text("utf-8") + '\n\ndef test_new(agree):\n    """Nothing."""\n')
        first = told("now everything that depends on it")
        assert "test_weigh.py::test_new proves nothing" in first
        assert "1 week, 1 tests" in first
        assert "test_weigh.py::test_new proves nothing" in told()


def test_a_save_tells_which_tests_it_changed(course):
    path = course.root / GRADER
    text = path.read_text("utf-8")
    written = Written(course, list(course.weeks))
    new = '\n\ndef test_new(agree):\n    """Nothing."""\n'

    def save(now: str) -> tuple[Aim, ...]:
        path.write_text(now)
        return written.changed([path])

    assert save(text + new) == (Aim(WEEK, "weigh", test="test_new"),)
    assert save(text + new + "# a remark\n") == ()  # nothing that a test alone would show
    assert save("import math\n" + text + new) == ()  # all tests may depend on it
    assert save("import math\n" + text) == ()  # one is gone
    assert save("import math\ndef") == ()
    other = course.solution_folder(course.weeks[0]) / "misconceptions" / "ignores_dim.py"
    assert written.changed([other]) == (Aim(WEEK, "weigh", "ignores_dim"),)
    assert written.changed([other, course.solution(course.weeks[0])]) == ()
