"""`check novel`: a BPE of the students' own and a model that reads a real text."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.lesson.handout import week_files
from autograder.authoring.lesson.leak_check import check_files, secrets_of
from autograder.model.course import Course, load
from autograder.model.course.stubs import make_stub
from autograder.student.checks.stages import StageFailed

ROOT = Path(__file__).resolve().parents[2]
FOLDER, SOLUTION = ROOT / "exercises" / "novel", ROOT / "solutions" / "novel" / "bpe.py"


@pytest.fixture(scope="module")
def course() -> Course:
    return load(ROOT)


@pytest.fixture
def solved(course: Course, tmp_path: Path) -> Path:
    """Return the solved folder next to week 5."""
    shutil.copytree(FOLDER, tmp_path / "novel", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOLUTION, tmp_path / "novel")
    for name in ("week03_multihead", "week05_transformer"):
        (tmp_path / name).mkdir()
        shutil.copy(course.solution(course.week(name)), tmp_path / name)
    return tmp_path / "novel"


@pytest.fixture
def check(in_process: Callable[..., Any]) -> Callable[[Path], tuple[int, str]]:
    def check(folder: Path) -> tuple[int, str]:
        done = in_process("check", "novel", cwd=folder)
        return done.returncode, done.stdout + done.stderr

    return check


@pytest.mark.thorough
def test_the_solution_passes_every_stage(solved: Path, check) -> None:
    code, said = check(solved)
    assert code == 0, said
    assert said.count("  ✓ ") == 7


def test_the_stub_is_the_solutions(course: Course) -> None:
    stub = make_stub(SOLUTION.read_text(encoding="utf-8"), "solutions/novel/bpe.py")
    assert (FOLDER / "bpe.py").read_text(encoding="utf-8") == stub


@pytest.fixture
def reader(solved: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stages in this process, with the solution for a start."""
    monkeypatch.syspath_prepend(str(solved))
    before = set(sys.modules)
    made = importlib.import_module("stages").Reader(solved)
    made.found()
    yield made
    for name in set(sys.modules) - before:
        if name in ("stages", "train", "bpe", "transformer", "multihead"):
            del sys.modules[name]


def test_an_unwritten_function_is_named(solved: Path, reader) -> None:
    shutil.copy(FOLDER / "bpe.py", solved)
    reader.found()
    with pytest.raises(NotImplementedError, match="count_pairs"):
        reader.by_hand()


@pytest.mark.parametrize(
    ("old", "new", "stage"),
    [
        ("pairs[pair] += times", "pairs[pair] += 1", "by_hand"),
        ("at += 2", "at += 1", "by_hand"),
        ("(-pairs[p], p)", "(-pairs[p], -p[0])", "trains"),
        ("pairs[best] < 2", "pairs[best] < 1", "trains"),
        ("first = min(", "first = max(", "in_order"),
    ],
)
def test_a_mistake_is_found_at_its_stage(solved: Path, reader, old, new, stage) -> None:
    source = (solved / "bpe.py").read_text(encoding="utf-8")
    assert old in source
    getattr(reader, stage)()
    (solved / "bpe.py").write_text(source.replace(old, new, 1), encoding="utf-8")
    reader.found()
    with pytest.raises(StageFailed):
        getattr(reader, stage)()


@pytest.mark.thorough
def test_it_trains_from_the_command_line(solved: Path) -> None:
    options = ["--merges", "4", "--share", "0.05", "--steps", "1", "--width", "16"]
    command = [sys.executable, "train.py", *options]
    done = subprocess.run(command, cwd=solved, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "4 merges" in done.stdout
    assert "Catherine" in done.stdout


def test_what_is_held_out_is_no_part_of_what_is_learned(reader) -> None:
    texts = sys.modules["train"].split("a" * 90 + "b" * 10, reader.bpe, [])
    assert set(texts.training.tolist()) == {97}
    assert set(texts.held_out.tolist()) == {98}


def test_the_options_come_with_week_6_and_hold_nothing_secret(course: Course) -> None:
    week = course.week("week06")
    released = week_files(course, week)
    expected = {"novel/bpe.py", "novel/train.py", "novel/northanger_abbey.txt", "novel/stages.py"}
    assert expected | {"gpt2/gpt2.py", "gpt2/stages.py"} <= released.keys()
    ours = {n: c for n, c in released.items() if n.startswith(("novel/", "gpt2/"))}
    for name in ("week02_masking", "week03_multihead", "week05_transformer"):
        check_files(ours, secrets_of(course, course.week(name)), "exercises")
    told = "\n".join(c.decode() for c in ours.values())
    regions = re.findall(r"# BEGIN SOLUTION\n(.*?)# END", SOLUTION.read_text("utf-8"), re.DOTALL)
    lines = {line.strip() for region in regions for line in region.split("\n")}
    assert len(lines) > 20
    assert not [line for line in lines if len(line) > 25 and line in told]
