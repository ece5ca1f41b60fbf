"""`check novel`: a BPE of the students' own and a model that reads a real text."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.leaks import check_files, secrets_of
from autograder.model.course import Course, load
from autograder.model.stubs import make_stub
from autograder.nbgrader.release import week_files

ROOT = Path(__file__).resolve().parents[2]
FOLDER, SOLUTION = ROOT / "exercises" / "novel", ROOT / "solutions" / "novel" / "bpe.py"


@pytest.fixture(scope="module")
def course() -> Course:
    return load(ROOT)


@pytest.fixture
def solved(course: Course, tmp_path: Path) -> Path:
    """The folder beside week 5, solved."""
    shutil.copytree(FOLDER, tmp_path / "novel", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOLUTION, tmp_path / "novel")
    for name in ("week03_multihead", "week05_transformer"):
        (tmp_path / name).mkdir()
        shutil.copy(course.solution(course.week(name)), tmp_path / name)
    return tmp_path / "novel"


@pytest.fixture
def check(autograder: Callable[..., Any]) -> Callable[[Path], tuple[int, str]]:
    def check(folder: Path) -> tuple[int, str]:
        done = autograder("check", "novel", cwd=folder)
        return done.returncode, done.stdout + done.stderr

    return check


def failed(said: str) -> tuple[str, str]:
    """The stage that failed, and why."""
    lines = said.split("\n")
    (at,) = [n for n, line in enumerate(lines) if line.startswith("  ✗ ")]
    return lines[at].removeprefix("  ✗ "), lines[at + 1].strip()


def test_the_solution_passes_every_stage(solved: Path, check) -> None:
    code, said = check(solved)
    assert code == 0, said
    assert said.count("  ✓ ") == 7


def test_the_stub_is_the_solutions(course: Course) -> None:
    stub = make_stub(SOLUTION.read_text(encoding="utf-8"), "solutions/novel/bpe.py")
    assert (FOLDER / "bpe.py").read_text(encoding="utf-8") == stub


def test_an_unwritten_function_is_named(solved: Path, check) -> None:
    shutil.copy(FOLDER / "bpe.py", solved)
    code, said = check(solved)
    assert code == 1
    assert "count_pairs" in failed(said)[1]
    assert "is not written yet" in failed(said)[1]


@pytest.mark.parametrize(
    ("old", "new", "stage"),
    [
        ("at += 2", "at += 1", "count_pairs counts"),
        ("(-pairs[p], p)", "(-pairs[p], -p[0])", "train_bpe joins"),
        ("first = min(", "first = max(", "encode joins in the order"),
    ],
)
def test_a_mistake_is_found_at_its_stage(solved: Path, check, old, new, stage) -> None:
    source = (solved / "bpe.py").read_text(encoding="utf-8")
    assert old in source
    (solved / "bpe.py").write_text(source.replace(old, new, 1), encoding="utf-8")
    code, said = check(solved)
    assert code == 1
    assert stage in failed(said)[0]


def test_it_trains_from_the_command_line(solved: Path) -> None:
    options = ["--merges", "4", "--share", "0.05", "--steps", "100", "--width", "32"]
    command = [sys.executable, "train.py", *options]
    done = subprocess.run(command, cwd=solved, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.split("\n") if line.endswith(" s")]
    first, last = ([float(x) for x in rows[n][1:3]] for n in (0, -1))
    assert last[0] < first[0] - 1
    assert last[1] < first[1] - 1


def test_what_is_held_out_is_no_part_of_what_is_learned(solved: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(solved))
    given, bpe = (__import__(name) for name in ("train", "bpe"))
    for name in ("train", "bpe"):
        monkeypatch.delitem(sys.modules, name)
    text = "a" * 90 + "b" * 10
    texts = given.split(text, bpe, [])
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
