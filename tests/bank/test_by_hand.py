"""Test hidden tests in the author's terminal: typos are reported once; plain pytest runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
GRADERS = "autograder/graders/week01_tiny"
PLAIN = ("-p", "no:cacheprovider", "-q", GRADERS)
ALIKE = {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
TYPOS = {
    "agree.wiegh(draw.normal(3, 5))": "the solution has no `wiegh`; did you mean 'weigh'?",
    "agree.weigh(drw.normal(3, 5))": "name 'drw' is not defined; did you mean 'draw'?",
    "agree.weigh(draw.norml(3, 5))": "has no attribute 'norml'; did you mean 'normal'?",
    "assert submission.weigh(draw.normal(3)).sum() < 0": "an assert without a message: use expect",
    "agree(draw.normal(3, 5))": "'Agree' object is not callable",
    "agree.within('x').weigh(draw.normal(3))": "within takes two numbers",
    "agree.only('shape').weigh(draw.normal(3))": "only takes a function of the result",
    "refuses('ValueError').weigh(draw.normal(3))": "refuses takes the class of an exception",
    "agree.weigh(draw.normal('3', 5))": "'str' object cannot be interpreted as an integer",
    "expect('It sums to one', True)": "expect takes a condition, and then the message",
    "growth_exponent({8: 64.0})": "growth_exponent needs the cost at two sizes",
    "agree.Scale(4).foward(draw.normal(2, 4))": "the solution has no `foward`",
}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    ignored = shutil.ignore_patterns("__pyc*")
    root = Path(shutil.copytree(TINY, tmp_path / "tiny", ignore=ignored))
    shutil.copy(TINY.parents[2] / "autograder/graders/conftest.py", root / "autograder/graders")
    return root


def test_a_typo_is_one_message_with_its_line_and_what_was_meant(tiny, autograder):
    path = tiny / GRADERS / "test_weigh.py"
    text = path.read_text("utf-8") + "\n\nfrom autograder.authors import expect, growth_exponent\n"
    places = {}
    for number, typed in enumerate(TYPOS):
        text += f'\n\ndef test_{number}(agree, submission, refuses, draw):\n    """Some."""\n'
        places[number] = text.count("\n") + 1
        text += f"    {typed}\n"
    path.write_text(text + '\n\ndef test_last(agree, drow):\n    """Some."""\n')
    said = autograder("verify", "--quick", "--only", "weigh", "--jobs", "1", cwd=tiny).stdout
    gaps = [" ".join(gap.split()) for gap in said.split("GAP  ")[1:] if "test_weigh.py::" in gap]
    for number, meant in enumerate(TYPOS.values()):
        (gap,) = (g for g in gaps if g.startswith(f"test_weigh.py::test_{number} "))
        assert f"(test_weigh.py:{places[number]})" in gap
        assert meant in gap
    assert "there is no fixture 'drow'; did you mean 'draw'?" in gaps[-1]
    assert len(gaps) == len(TYPOS) + 1


@pytest.fixture(scope="module")
def forking() -> Iterator[subprocess.Popen[str]]:
    """Start the process that imports torch once for all pytest runs."""
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("forking.py")],
        env=os.environ | ALIKE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


@pytest.fixture
def by_hand(
    tiny: Path, tmp_path: Path, forking: subprocess.Popen[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run plain pytest in the folder of the week's hidden tests."""

    def run(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        keyboard, said = tmp_path / "keyboard", tmp_path / "said"
        keyboard.write_text(typed, "utf-8")
        said.touch()
        asked = [str(tiny), str(keyboard), str(said), [*PLAIN, *arguments]]
        assert forking.stdin is not None
        assert forking.stdout is not None
        print(json.dumps(asked), file=forking.stdin, flush=True)
        code = int(forking.stdout.readline())
        return subprocess.CompletedProcess(asked, code, said.read_text("utf-8"))

    return run


def test_plain_pytest_starts_and_runs_them_on_the_solution(tiny):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLAIN],
        cwd=tiny,
        env=os.environ | ALIKE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_they_fail_on_a_misconception_with_the_line_of_the_test(by_hand, tiny):
    done = by_hand("--submission", "ignores_dim", "-k", "any_axis")
    lines = (tiny / GRADERS / "test_weigh.py").read_text("utf-8").split("\n")
    asked = next(n for n, line in enumerate(lines, start=1) if "dim=1" in line)
    assert done.returncode == 1
    assert f"wrong (test_weigh.py:{asked}): " in done.stdout


def test_a_file_is_tested_and_what_it_prints_is_labelled(by_hand, tiny):
    source = (tiny / "solutions/week01_tiny/tiny.py").read_text("utf-8")
    mine = tiny / "mine.py"
    mine.write_text(source.replace("    e = ", "    print('here', dim)\n    e = "))
    done = by_hand("--submission", "mine.py", "-k", "any_axis", "-s")
    assert done.returncode == 0, done.stdout
    assert "[submission] here 1" in done.stdout


def test_a_piece_is_tested_over_the_solution(by_hand, tiny):
    (tiny / "piece.py").write_text("def weigh(x, dim=-1):\n    return x\n")
    done = by_hand("--submission", "piece.py", "-k", "any_axis")
    assert done.returncode == 1
    assert "wrong (test_weigh.py:" in done.stdout


def test_what_is_not_there_is_said_once(by_hand):
    done = by_hand("--alternative", "ignore_dim")
    assert done.returncode != 0
    assert "in the bank of week01_tiny; did you mean ignores_dim?" in done.stdout
    assert ", in " not in done.stdout


@pytest.mark.parametrize("place", ["test", "submission"])
def test_breakpoint_stops_in_a_test_and_in_what_it_tests(by_hand, tiny, place):
    grader, mine = tiny / GRADERS / "test_weigh.py", tiny / "mine.py"
    source = (tiny / "solutions/week01_tiny/tiny.py").read_text("utf-8")
    mine.write_text(source)
    if place == "test":
        text = grader.read_text("utf-8")
        line = next(line for line in text.split("\n") if "dim=1" in line)
        grader.write_text(text.replace(line, f"    breakpoint()\n{line}"))
    else:
        mine.write_text(source.replace("    e = ", "    breakpoint()\n    e = ", 1))
    done = by_hand("--submission", "mine.py", "-k", "any_axis", typed="p 6 * 7\nc\n" * 9)
    assert "(Pdb) 42" in done.stdout


@pytest.mark.thorough
def test_the_debugger_opens_in_the_test(by_hand, tiny):
    lines = (tiny / GRADERS / "test_weigh.py").read_text("utf-8").split("\n")
    asked = next(n for n, line in enumerate(lines, start=1) if "dim=1" in line)
    done = by_hand("--submission", "ignores_dim", "-k", "any_axis", "--pdb", typed="q\n" * 9)
    assert f"test_weigh.py({asked})test_any_axis()" in done.stdout


def test_an_error_in_a_piece_names_what_is_unknown(by_hand, tiny):
    text = "def weigh(x, dim=-1):\n    return missing\n"
    (tiny / "piece.py").write_text(text, encoding="utf-8-sig")
    done = by_hand("--submission", "piece.py", "-k", "any_axis")
    assert "NameError: name 'missing' is not defined at line" in done.stdout


@pytest.mark.thorough
def test_a_folder_may_be_given(by_hand, tiny):
    (tiny / "mine").mkdir()
    (tiny / "mine" / "tiny.py").write_text("def weigh(x, dim=-1):\n    return x\n")
    done = by_hand("--submission", "mine", "-k", "any_axis")
    assert "wrong (test_weigh.py:" in done.stdout


@pytest.mark.thorough
def test_what_was_meant_stands_below_the_traceback(by_hand, tiny):
    path = tiny / GRADERS / "test_weigh.py"
    typo = '\n\ndef test_typo(agree):\n    """Some."""\n    agree.exatly.weigh(3)\n'
    path.write_text(path.read_text("utf-8") + typo)
    done = by_hand("-k", "typo")
    assert "fixtures have no 'exatly'; did you mean 'exactly'?" in done.stdout
