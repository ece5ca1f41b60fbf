"""Test that a stored result is reused only if none of its inputs changed."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

import autograder
from autograder.batch import store as depends
from autograder.batch.store import PACKAGES, fingerprint, trusted_fingerprint
from autograder.model.course import Course, Suspects, load
from autograder.model.course.registry import Late

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LATER = dt.datetime(2030, 1, 1)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    ignored = shutil.ignore_patterns("__pycache__", ".autograder")
    shutil.copytree(GOLDEN / "course", tmp_path / "course", ignore=ignored)
    return load(tmp_path / "course")


def key(course: Course, secret: bytes = b"s", sandbox: str = "bubblewrap") -> bytes:
    return fingerprint(course, course.weeks[0], ("cpu",), secret, sandbox)


def changed(course: Course, **settings: object) -> Course:
    """Return the same course with different settings for its first week."""
    week = msgspec.structs.replace(course.weeks[0], **settings)
    registry = msgspec.structs.replace(course.registry, weeks=(week, *course.weeks[1:]))
    return Course(course.root, registry)


def test_nothing_changed_nothing_is_graded_again(course: Course) -> None:
    assert key(course) == key(load(course.root))


@pytest.mark.parametrize(
    "settings",
    [{"title": "Another"}, {"due": LATER}, {"release": LATER}],
    ids=lambda s: next(iter(s)),
)
def test_dates_and_titles_are_no_part_of_a_result(course: Course, settings) -> None:
    assert key(changed(course, **settings)) == key(course)


def test_how_long_a_line_is_looked_for_changes_nothing_that_our_own_code_answers(course) -> None:
    registry = msgspec.structs.replace(course.registry, suspects=Suspects(seconds=7.0))
    other = Course(course.root, registry)
    kept = [trusted_fingerprint(c, c.weeks[0], ("cpu",), b"s") for c in (course, other)]
    assert (kept[0] == kept[1], key(course) == key(other)) == (True, False)


def own(course: Course) -> bytes:
    return trusted_fingerprint(course, course.weeks[0], ("cpu",), b"s")


def mend(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + "\n# mended\n", encoding="utf-8")


def test_how_much_a_submission_may_take_is_nothing_to_our_own_code(course: Course) -> None:
    limits = msgspec.structs.replace(course.registry.limits, call_seconds=1.0)
    registry = msgspec.structs.replace(course.registry, limits=limits)
    assert own(Course(course.root, registry)) == own(course)


@pytest.mark.parametrize("pattern", ["graders/*/test_*.py", "solutions/*/misconceptions/*.py"])
def test_one_run_knows_its_own_program_and_tests_by_itself(course: Course, pattern: str) -> None:
    before = own(course)
    folder, _, rest = pattern.partition("/*/")
    where = {"graders": course.graders, "solutions": course.solution_folder}[folder]
    mend(next(where(course.weeks[0]).glob(rest)))
    assert own(course) == before


def test_every_run_depends_on_the_solution_and_on_what_tests_share(course: Course) -> None:
    before = own(course)[1]
    mend(course.solution(course.weeks[0]))
    mended = own(course)[1]
    (course.graders(course.weeks[0]) / "shared.py").write_text("A = 1\n", encoding="utf-8")
    assert len({before, mended, own(course)[1]}) == 3


def test_released_modules_are_part_of_every_result(course: Course) -> None:
    released = changed(course, files=("toys.py",))
    (course.root / "assets").mkdir()
    keys = set[bytes]()
    for text in ("A = 1\n", "A = 2\n"):
        (course.root / "assets" / "toys.py").write_text(text, encoding="utf-8")
        keys |= {key(released), own(released)}
    assert len(keys) == 4


def test_points_are_part_of_a_result(course: Course) -> None:
    exercise = msgspec.structs.replace(course.weeks[0].exercises[0], points=99.0)
    exercises = (exercise, *course.weeks[0].exercises[1:])
    assert key(changed(course, exercises=exercises)) != key(course)


def test_what_is_not_allowed_is_part_of_a_result(course: Course) -> None:
    assert key(changed(course, not_allowed=("erfinv",))) != key(course)


def test_limits_are_part_of_a_result(course: Course) -> None:
    limits = msgspec.structs.replace(course.registry.limits, call_seconds=1.0)
    registry = msgspec.structs.replace(course.registry, limits=limits)
    assert key(Course(course.root, registry)) != key(course)


@pytest.mark.parametrize(
    "settings",
    [{"late": Late(percent=10.0)}, {"counts": "best"}, {"handouts": "https://example.org"}],
)
def test_what_changes_no_report_is_no_part_of_a_result(
    course: Course, settings: dict[str, object]
) -> None:
    registry = msgspec.structs.replace(course.registry, **settings)
    assert key(Course(course.root, registry)) == key(course)


@pytest.mark.parametrize("where", ["graders", "solution_folder"])
def test_graders_solution_and_bank_are_part_of_a_result(course: Course, where: str) -> None:
    before = key(course)
    path = next(getattr(course, where)(course.weeks[0]).rglob("*.py"))
    path.write_text(path.read_text("utf-8") + "\n# mended\n", encoding="utf-8")
    assert key(course) != before


@pytest.mark.parametrize("other", [{"secret": b"t"}, {"sandbox": "landlock"}])
def test_secret_and_sandbox_are_part_of_a_result(course: Course, other) -> None:
    assert key(course, **other) != key(course)


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the kit's packages that are part of the key and use the copy."""
    copy = tmp_path / "kit" / "autograder"
    for room in PACKAGES:
        source = Path(autograder.__file__).parent / room
        if source.is_dir():
            shutil.copytree(source, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
    monkeypatch.setattr(depends, "__file__", str(copy / "batch" / "depends.py"))
    return copy


@pytest.mark.parametrize(
    "module",
    [
        "model/report/scoring.py",
        "model/course/bank.py",
        "batch/intake.py",
        "worker/executor.py",
        "grading/assertions/value_comparison.py",
    ],
)
def test_code_that_takes_part_is_part_of_a_result(course: Course, kit: Path, module: str) -> None:
    before = key(course)
    path = kit / module
    path.write_text(path.read_text("utf-8") + "\n# mended\n", encoding="utf-8")
    assert key(course) != before


@pytest.mark.parametrize("library", ["torch", "numpy", "keras", "transformers"])
def test_another_version_of_a_library_is_part_of_a_result(
    course: Course, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    before = key(course)
    version: Callable[[str], str] = metadata.version
    monkeypatch.setattr(metadata, "version", lambda n: "99" if n == library else version(n))
    assert key(course) != before


def test_rooms_of_the_key_hold_all_that_grading_imports() -> None:
    """Check that all kit modules imported by the grading process are in packages of the key."""
    program = (
        "import sys, autograder.batch.pool, autograder.grading.engine\n"
        "print(*(n for n in sys.modules if n.startswith('autograder.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.decode().split()}
    assert rooms <= {p.removesuffix(".py") for p in PACKAGES} | {"version"}
