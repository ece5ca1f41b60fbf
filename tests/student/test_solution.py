"""`autograder solution` before and after the solutions are released."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder import solution
from autograder.cli import run
from autograder.model.errors import KitError
from autograder.student.folder.week import WeekFolder, open_all
from autograder.student.show.solution import compare_with_solution, lines
from tests.student.conftest import SOLVED, STUB, WEEK

Write = Callable[..., WeekFolder]
MISTAKES = "# Tiny\n\n## double\n\n- **Squares.** 3 gives 9. Try 3.\n\n## shout\n\n- No.\n"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exchange to fetch from."""
    monkeypatch.setattr(
        "autograder.student.folder.released_solution.shutil.which", lambda *_, **__: None
    )


def released(tiny: WeekFolder, name: str = "week03_tiny-solutions") -> Path:
    """Create the folder that `release --solutions` makes, next to the week."""
    place = tiny.path.parent / name
    place.mkdir()
    (place / "week.json").write_bytes(msgspec.json.encode(WEEK))
    (place / "tiny.py").write_text("\n\n".join([STUB, *SOLVED.values()]), encoding="utf-8")
    (place / "MISTAKES.md").write_text(MISTAKES, encoding="utf-8")
    return place


def test_before_the_release_it_says_when_it_comes(tiny: WeekFolder) -> None:
    with pytest.raises(
        KitError, match="when nobody can submit for full points any more; the week is"
    ):
        compare_with_solution(tiny, "double")


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
    rows = compare_with_solution(tiny, "double").rows
    assert ("    return x + x", True, "    return helper(x)") in rows
    assert ("def double(x):", False, "def double(x):") in rows


def test_helpers_of_the_solution_are_shown_with_it(tiny: WeekFolder) -> None:
    released(tiny)
    assert "def helper(x):" in [row[2] for row in compare_with_solution(tiny, "double").rows]


def test_other_exercises_are_not(tiny: WeekFolder) -> None:
    released(tiny)
    assert "def double(x):" not in [
        row[2] for row in compare_with_solution(tiny, "double_all").rows
    ]


def test_common_mistakes_of_the_exercise_are_told(tiny: WeekFolder) -> None:
    released(tiny)
    assert compare_with_solution(tiny, "double").mistakes == ("Squares. 3 gives 9. Try 3.",)


def test_a_zip_will_do(tiny: WeekFolder, tmp_path: Path) -> None:
    place = released(tiny, "elsewhere")
    with zipfile.ZipFile(tmp_path / "out.zip", "w") as archive:
        for path in place.iterdir():
            archive.write(path, f"week03_tiny-solutions/{path.name}")
    assert (
        compare_with_solution(tiny, "shout", tmp_path / "out.zip").rows[-1][2]
        == "    return text.upper()"
    )


@pytest.mark.parametrize("spoiled", ["week.json", "tiny.py"])
def test_a_folder_without_solutions_is_refused(tiny: WeekFolder, spoiled: str) -> None:
    (released(tiny) / spoiled).unlink()
    with pytest.raises(KitError, match="no released solution in it"):
        compare_with_solution(tiny, "double")


def test_another_weeks_solutions_are_refused(tiny: WeekFolder) -> None:
    place = released(tiny)
    other = msgspec.structs.replace(WEEK, week="week04_other")
    (place / "week.json").write_bytes(msgspec.json.encode(other))
    with pytest.raises(KitError, match="of week04_other, not of week03_tiny"):
        compare_with_solution(tiny, "double")


def test_released_solutions_are_no_week_of_ones_own(tiny: WeekFolder) -> None:
    released(tiny)
    assert [w.path.name for w in open_all(tiny.path)] == ["week03_tiny"]


def test_a_notebook_shows_it_and_never_raises(
    tiny: WeekFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny.path)
    assert "have not been released yet" in solution("double")._repr_html_()
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


def test_a_narrow_terminal_shows_a_diff(write: Write) -> None:
    tiny = write("def double(x):\n    return x + x\n")
    released(tiny)
    shown = list(lines(compare_with_solution(tiny, "double"), 60))
    assert "  def double(x):" in shown
    at = shown.index("-     return x + x")
    assert shown[at + 1] == "+     return helper(x)"


def test_what_is_said_is_broken_between_words(tiny: WeekFolder) -> None:
    long = MISTAKES.replace("3 gives 9.", "3 gives 9, which is far from the correct result 6.")
    (released(tiny) / "MISTAKES.md").write_text(long, encoding="utf-8")
    shown = list(lines(compare_with_solution(tiny, "double"), 40))
    assert [line for line in shown if len(line) > 40] == []
    assert "    from the correct result 6. Try 3." in shown


@pytest.mark.parametrize("width", [80, 100, 140, 200])
def test_code_is_broken_between_words(write: Write, width: int) -> None:
    """Every word is on one line, and no line is too long."""
    call = "some_function(first_argument[..., None], keyword=second_argument, other=third_argument)"
    tiny = write(
        f"def double(x):\n    # a long comment, longer, and longer still: wait\n"
        f"    return {call} + {call} * {call}\n"
    )
    released(tiny)
    shown = list(lines(compare_with_solution(tiny, "double"), width))
    assert [line for line in shown if len(line) > width] == []
    text = "\n".join(shown)
    for word in ("some_function(", "first_argument", "keyword=second_argument", "third_argument)"):
        assert text.count(word) == 3
