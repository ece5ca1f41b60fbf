"""`autograder solution` before and after the solutions are released."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder import solution
from autograder.cli import run
from autograder.model.errors import KitError
from autograder.student.folder.week import WeekFolder, open_all
from autograder.student.show.solution import compare_with_solution
from tests.student.conftest import SOLVED, STUB, WEEK

Write = Callable[..., WeekFolder]
MISTAKES = "# Tiny\n\n## double\n\n- **Squares.** 3 gives 9. Try 3.\n\n## shout\n\n- No.\n"


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


def test_the_lines_that_differ_are_marked(write: Write) -> None:
    tiny = write("def double(x):\n    return x + x\n")
    released(tiny)
    lines = compare_with_solution(tiny, "double")
    at = lines.index("-     return x + x")
    assert lines[at - 1 : at + 2] == [
        "  def double(x):",
        "-     return x + x",
        "+     return helper(x)",
    ]


def test_helpers_of_the_solution_are_shown_with_it(tiny: WeekFolder) -> None:
    released(tiny)
    assert "+ def helper(x):" in compare_with_solution(tiny, "double")


def test_other_exercises_are_not(tiny: WeekFolder) -> None:
    released(tiny)
    assert "+ def double(x):" not in compare_with_solution(tiny, "double_all")


def test_common_mistakes_of_the_exercise_are_told(tiny: WeekFolder) -> None:
    released(tiny)
    assert compare_with_solution(tiny, "double")[-2:] == [
        "Common mistakes",
        "  - Squares. 3 gives 9. Try 3.",
    ]


def test_another_folder_can_be_named(tiny: WeekFolder) -> None:
    assert "+     return text.upper()" in compare_with_solution(
        tiny, "shout", released(tiny, "elsewhere")
    )


@pytest.mark.parametrize("spoiled", ["week.json", "tiny.py"])
def test_a_folder_without_solutions_is_refused(tiny: WeekFolder, spoiled: str) -> None:
    (released(tiny) / spoiled).unlink()
    with pytest.raises(KitError, match="not a folder with a released solution"):
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
