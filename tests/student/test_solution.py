"""`autograder solution`: refused kindly before, shown beside one's own after, and explained."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder import solution
from autograder.cli import run
from autograder.model.course.bank import Bank
from autograder.model.errors import KitError
from autograder.student.folder.week import WeekFolder, open_all
from autograder.student.show.contrast import contrasts
from autograder.student.show.solution import beside
from autograder.student.show.solution_view import folded, lines
from tests.student.conftest import SOLVED, STUB, WEEK

Write = Callable[..., WeekFolder]
MISTAKES = "# Tiny\n\n## double\n\n- **Squares.** 3 gives 9. Try 3.\n\n## shout\n\n- No.\n"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exchange to fetch from."""
    monkeypatch.setattr("autograder.student.show.solution.shutil.which", lambda *_, **__: None)


def released(tiny: WeekFolder, name: str = "week03_tiny-solutions") -> Path:
    """What `release --solutions` hands out, beside the week."""
    place = tiny.path.parent / name
    place.mkdir()
    (place / "week.json").write_bytes(msgspec.json.encode(WEEK))
    (place / "tiny.py").write_text("\n\n".join([STUB, *SOLVED.values()]), encoding="utf-8")
    (place / "MISTAKES.md").write_text(MISTAKES, encoding="utf-8")
    return place


def told(mine: str, other: str) -> list[str]:
    left, right = (ast.parse(text).body[0] for text in (mine, other))
    assert isinstance(left, ast.FunctionDef)
    assert isinstance(right, ast.FunctionDef)
    return contrasts(left, right)


def test_before_the_release_it_says_when_it_comes(tiny: WeekFolder) -> None:
    with pytest.raises(
        KitError, match="once nobody can hand in without losing points any more; the week is"
    ):
        beside(tiny, "double")


def test_the_command_refuses_kindly(
    tiny: WeekFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tiny.path)
    assert run(["solution", "double"]) == 2
    assert "Your instructor releases them" in capsys.readouterr().err


def test_in_a_checkout_of_the_project_nothing_is_shown_either(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root / "exercises" / "week01_softmax")
    assert run(["solution", "softmax"]) == 2
    assert "Your instructor releases them" in capsys.readouterr().err


def test_it_stands_beside_ones_own(write: Write) -> None:
    tiny = write("def double(x):\n    return x + x\n")
    released(tiny)
    rows = beside(tiny, "double").rows
    assert ("    return x + x", True, "    return helper(x)") in rows
    assert ("def double(x):", False, "def double(x):") in rows


def test_helpers_of_the_solution_are_shown_with_it(tiny: WeekFolder) -> None:
    released(tiny)
    assert "def helper(x):" in [row[2] for row in beside(tiny, "double").rows]


def test_other_exercises_are_not(tiny: WeekFolder) -> None:
    released(tiny)
    assert "def double(x):" not in [row[2] for row in beside(tiny, "double_all").rows]


def test_what_is_not_written_is_not_compared(tiny: WeekFolder) -> None:
    released(tiny)
    assert beside(tiny, "double").said == (
        "You have not written it, so there is nothing to compare.",
    )


def test_common_mistakes_of_the_exercise_are_told(tiny: WeekFolder) -> None:
    released(tiny)
    assert beside(tiny, "double").mistakes == ("Squares. 3 gives 9. Try 3.",)


def test_a_zip_will_do(tiny: WeekFolder, tmp_path: Path) -> None:
    place = released(tiny, "elsewhere")
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        for path in place.iterdir():
            archive.write(path, f"week03_tiny-solutions/{path.name}")
    assert beside(tiny, "shout", tmp_path / "out.zip").rows[-1][2] == "    return text.upper()"


@pytest.mark.parametrize("spoiled", ["week.json", "tiny.py"])
def test_a_folder_without_solutions_is_refused(tiny: WeekFolder, spoiled: str) -> None:
    (released(tiny) / spoiled).unlink()
    with pytest.raises(KitError, match="is no folder of released solutions"):
        beside(tiny, "double")


def test_another_weeks_solutions_are_refused(tiny: WeekFolder) -> None:
    place = released(tiny)
    other = msgspec.structs.replace(WEEK, week="week04_other")
    (place / "week.json").write_bytes(msgspec.json.encode(other))
    with pytest.raises(KitError, match="holds week04_other, not week03_tiny"):
        beside(tiny, "double")


def test_released_solutions_are_no_week_of_ones_own(tiny: WeekFolder) -> None:
    released(tiny)
    assert [w.path.name for w in open_all(tiny.path)] == ["week03_tiny"]


def test_a_notebook_shows_it_and_never_raises(
    tiny: WeekFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny.path)
    assert "are not here" in solution("double")._repr_html_()
    released(tiny)
    assert "return helper(x)" in solution("double")._repr_html_()
    assert "return helper(x)" in repr(solution("double"))


def test_a_wide_terminal_has_two_columns(
    tiny: WeekFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    released(tiny)
    monkeypatch.chdir(tiny.path)
    monkeypatch.setenv("COLUMNS", "120")
    assert run(["solution", "shout"]) == 0
    first = capsys.readouterr().out.split("\n")[2]
    assert first.startswith("yours, line 20")
    assert first.endswith("the solution")


@pytest.mark.parametrize(
    ("mine", "other", "says"),
    [
        ("return x.sum(0)", "return x.sum(-1)", "you have `0` where the solution has `-1`"),
        ("return x.mean(1)", "return x.sum(1)", "you take `mean`, the solution `sum`"),
        ("return x / y", "return x * y", "you divide where the solution multiplies"),
        ("return x - y", "return y - x", "the two sides of `x - y` are exchanged"),
        ("return x < y", "return x <= y", "you compare by `<`, the solution by `<=`"),
        ("return x.sum(1)", "return x.sum(1, keepdim=True)", "also passes `keepdim=True`"),
        ("return x @ x", "return x @ y", "you use `x` where the solution uses `y`"),
        ("return x", "y = x + 1\n    return x", "The solution has one more step: `y = x + 1`"),
        ("y = x\n    return x", "return x", "a step that the solution does not need: `y = x`"),
        ("for a in x:\n        y += a\n    return y", "return x.sum()", "one operation do it for"),
    ],
)
def test_what_differs_is_told(mine: str, other: str, says: str) -> None:
    said = told(f"def f(x, y):\n    {mine}\n", f"def f(x, y):\n    {other}\n")
    assert says in " ".join(said)


def test_names_comments_and_texts_are_no_difference() -> None:
    mine = "def f(x):\n    # mine\n    total = x.sum()\n    return total\n"
    other = 'def f(x):\n    """Sums."""\n    s = x.sum()\n    return s\n'
    assert told(mine, other) == ["Step by step it is the same; only names and layout differ."]


def test_the_whole_bank_can_be_told_apart(bank: Bank) -> None:
    """Every wrong version of week 1 differs in something that is told."""
    solution_of = {n.name: n for n in ast.parse(bank.solution).body if hasattr(n, "name")}
    for misconception in bank.misconceptions:
        for node in ast.parse(misconception.source[len(bank.solution) :]).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in solution_of:
                assert contrasts(node, solution_of[node.name]), misconception.name


def test_the_stubs_own_text_is_told_by_its_first_line(write: Write) -> None:
    doc = '    """Twice x.\n\n    Args:\n        x: A number.\n    """\n'
    tiny = write(f"def double(x):\n{doc}    return x + x\n")
    place = released(tiny)
    text = (place / "tiny.py").read_text("utf-8")
    solved = text.replace("    return helper(x)\n", f"{doc}    return helper(x)\n")
    (place / "tiny.py").write_text(solved, encoding="utf-8")
    shown = beside(tiny, "double").rows
    assert not [row for row in shown if "Args" in row[0] + row[2]]
    assert ('    """Twice x.', False, '    """Twice x.') in shown
    assert ("    return x + x", True, "    return helper(x)") in shown


def test_what_is_said_is_broken_between_words(tiny: WeekFolder) -> None:
    long = MISTAKES.replace("3 gives 9.", "3 gives 9, which is far from the 6 that was asked for.")
    (released(tiny) / "MISTAKES.md").write_text(long, encoding="utf-8")
    shown = list(lines(beside(tiny, "double"), 40))
    assert [line for line in shown[shown.index("What differs:") :] if len(line) > 40] == []
    assert "    from the 6 that was asked for. Try" in shown


@pytest.mark.parametrize("width", [40, 80, 100, 140, 200])
def test_code_is_broken_between_words(write: Write, width: int) -> None:
    """Every word of both stands on one line, and no line is too long."""
    call = "some_function(first_argument[..., None], keyword=second_argument, other=third_argument)"
    tiny = write(
        f"def double(x):\n    # what comes next is long, longer, and longer still: wait\n"
        f"    return {call} + {call} * {call}\n"
    )
    released(tiny)
    shown = list(lines(beside(tiny, "double"), width))
    code = shown[: shown.index("What differs:")]
    assert [line for line in code if len(line) > width] == []
    text = "\n".join(code)
    for word in ("some_function(", "first_argument", "keyword=second_argument", "third_argument)"):
        assert text.count(word) == 3


def test_a_long_name_stays_in_one_piece() -> None:
    name = "a_name_that_is_longer_than_all_the_room_that_there_is"
    assert folded(f"    {name} = 1", 20) == [f"    {name}", "        = 1"]
    assert folded("x", 20) == ["x"]
    assert folded(f"    # {name} and more", 30)[-1] == "    # and more"
