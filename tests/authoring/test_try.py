"""Test that `autograder try` shows an author the student's feedback page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.cli.author.try_file import trial_of
from autograder.model.course import Course, load
from autograder.model.course.bank import Bank
from autograder.model.errors import KitError

TINY = Path(__file__).resolve().parents[1] / "golden" / "course"
WRONG = """def weigh(x, dim=-1):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return load(shutil.copytree(TINY, tmp_path / "c", ignore=shutil.ignore_patterns("__pyc*")))


def test_a_snippet_is_appended_to_the_solution_and_a_module_is_unchanged(course, tmp_path):
    week, solution = course.weeks[0], course.solution(course.weeks[0]).read_text("utf-8")
    (tmp_path / "piece.py").write_text(WRONG)
    (tmp_path / "whole.py").write_text(solution + "\n" + WRONG)
    piece = trial_of(course, week, str(tmp_path / "piece.py"))
    assert piece.submission.files[week.module].decode() == f"{solution}\n\n{WRONG}"
    whole = trial_of(course, week, str(tmp_path / "whole.py"))
    assert (whole.submission.files[week.module].decode(), whole.offset) == (
        f"{solution}\n{WRONG}",
        0,
    )


def test_a_snippet_may_define_only_a_helper(course, tmp_path):
    path = course.solution(course.weeks[0])
    helped = path.read_text("utf-8") + "\n\ndef helper(x):\n    return x\n"
    path.write_text(helped, encoding="utf-8")
    (tmp_path / "piece.py").write_text("def helper(x):\n    return 2 * x\n")
    piece = trial_of(course, course.weeks[0], str(tmp_path / "piece.py"))
    assert piece.submission.files["tiny.py"].decode().startswith(helped)


def test_a_snippet_without_an_exercise_is_refused(course, tmp_path):
    (tmp_path / "other.py").write_text("def other():\n    pass\n")
    with pytest.raises(KitError, match="defines none of the exercises"):
        trial_of(course, course.weeks[0], str(tmp_path / "other.py"))
    with pytest.raises(KitError, match="did you mean ignores_dim"):
        trial_of(course, course.weeks[0], "ignore_dim")


def test_a_snippet_on_standard_input_gets_a_page_with_its_lines(course):
    done = subprocess.run(
        [Path(sys.executable).parent / "autograder", "try", "1", "-", "--quick"],
        cwd=course.root,
        input=WRONG
        + "\n\nclass Scale:\n    def __init__(self, size):\n        raise KeyError(size)\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Line 8 raises this exception." in done.stdout
    (page,) = (course.state / "tried").rglob("*.html")
    assert str(page) in done.stdout.replace("\n", "")
    text = page.read_text("utf-8")
    assert "<html" in text


def test_a_misconception_is_shown_on_its_page(course, in_process):
    done = in_process("try", "1", "ignores_dim", cwd=course.root)
    assert done.returncode == 0, done.stderr
    assert "weigh: ignores dim" in done.stdout
    assert "Your code computes this value" in done.stdout
    assert "test_weigh.py::test_any_axis" in done.stdout
    page = course.state / "tried" / "week01_tiny" / "ignores_dim.html"
    assert "<html" in page.read_text("utf-8")


def test_a_byte_order_mark_of_a_snippet_is_ignored(course, tmp_path):
    (tmp_path / "piece.py").write_text(WRONG, encoding="utf-8-sig")
    piece = trial_of(course, course.weeks[0], str(tmp_path / "piece.py"))
    assert piece.offset > 0
    assert "\ufeff" not in piece.submission.files["tiny.py"].decode()


def test_a_byte_order_mark_in_the_bank_is_ignored(course):
    path = course.solution_folder(course.weeks[0]) / "misconceptions" / "ignores_dim.py"
    path.write_text(path.read_text("utf-8"), encoding="utf-8-sig")
    assert "\ufeff" not in Bank(course, course.weeks[0]).misconceptions[0].source


def test_a_repeated_message_is_shown_once(course, in_process, tmp_path):
    (tmp_path / "piece.py").write_text("def weigh(scores, dim=-1):\n    raise KeyError(dim)\n")
    done = in_process("try", "1", str(tmp_path / "piece.py"), "--quick", cwd=course.root)
    assert done.stdout.count("raised KeyError") == 1
    assert "Line 2 raises this exception." in done.stdout
    assert "weigh fails" in done.stdout


def test_a_syntax_error_is_reported_with_the_snippets_line(course, in_process, tmp_path):
    (tmp_path / "piece.py").write_text("def weigh(scores, dim=-1):\n    return (scores\n")
    done = in_process("try", "1", str(tmp_path / "piece.py"), "--quick", cwd=course.root)
    assert "tiny.py does not run: line 2, `'(' was never closed`" in done.stdout
    assert "weigh  " not in done.stdout


def test_verdicts_are_printed_as_json(course, in_process):
    done = in_process("try", "1", "ignores_dim", "--json", cwd=course.root)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    weigh = found["exercises"][0]
    assert (found["schema"], found["tests"], weigh["verdict"]) == (1, "hidden", "wrong")
    assert weigh["points"] < weigh["max_points"]
    assert weigh["misconception"]
    assert weigh["hint"]


def test_code_that_needs_too_much_memory_is_stopped_without_a_sandbox_too(
    course, in_process, tmp_path
):
    (tmp_path / "piece.py").write_text("def weigh(x, dim=-1):\n    return bytes(3 << 30)\n")
    done = in_process("try", "1", str(tmp_path / "piece.py"), "--quick", "--json", cwd=course.root)
    assert json.loads(done.stdout)["exercises"][0]["verdict"] == "limit"
