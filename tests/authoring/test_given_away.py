"""Test that no week gives away an exercise of a week that is not due yet."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.lesson.leak_check import exercises_given_away, require_undisclosed
from autograder.model.course import Course, load
from autograder.model.errors import LeakError

PROJECT = load(Path(__file__).resolve().parents[2])
MASKED_SOFTMAX = """
def _weights(scores, mask):
    smallest = torch.finfo(scores.dtype).min
    result = torch.softmax(scores.masked_fill(~mask, smallest), dim=-1)
    return result.masked_fill(~mask, 0.0)
"""
HEATMAP = """
def _draw(ax, weights):
    return ax.imshow(weights.detach().cpu().double().numpy(), cmap="Greys", vmin=0.0, vmax=1.0)
"""
ADDITIVE = """
class Scorer(nn.Module):
    def forward(self, queries, states):
        mixed = torch.tanh(self.W_q(queries)[:, :, None] + self.W_k(states)[:, None])
        return self.u(mixed)[..., 0]
"""
ATTENTION = """
def attend(x):
    return torch.softmax(x @ x.T / x.shape[-1] ** 0.5, dim=-1) @ x
"""
Add = Callable[[str, str], list[str]]


@pytest.fixture
def copy(tmp_path: Path) -> Course:
    """A copy of the course without its bank."""
    root = tmp_path / "course"
    for folder in ("exercises", "assets", "autograder/graders"):
        shutil.copytree(PROJECT.root / folder, root / folder)
    shutil.copy(PROJECT.root / "course.yaml", root)
    for week in PROJECT.weeks:
        solution = PROJECT.solution(week)
        target = root / solution.relative_to(PROJECT.root)
        target.parent.mkdir(parents=True)
        shutil.copy(solution, target)
    return load(root)


@pytest.fixture
def given_away(copy: Course) -> Add:
    """Return the messages for a week whose lesson has one more code cell."""

    def add(name: str, code: str) -> list[str]:
        week = next(w for w in copy.weeks if w.name.startswith(name))
        lesson = copy.exercise_folder(week) / "lesson.md"
        lesson.write_text(f"{lesson.read_text('utf-8')}\n```python\n{code}\n```\n", "utf-8")
        return list(exercises_given_away(copy, week))

    return add


@pytest.mark.parametrize("week", PROJECT.weeks, ids=lambda w: w.name)
def test_no_week_of_this_course_gives_an_exercise_away(week: object) -> None:
    assert list(exercises_given_away(PROJECT, week)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("week", "code", "exercise"),
    [
        ("week03", MASKED_SOFTMAX, "masked_softmax of week02_masking"),
        ("week03", HEATMAP, "plot_attention of week02_masking"),
        ("week01", ADDITIVE, "additive_attention of week06_beyond"),
        ("week02", ATTENTION, "scaled_dot_product_attention of week01_softmax"),
        ("week01", ATTENTION, "scaled_dot_product_attention of week01_softmax"),
    ],
    ids=["an earlier week", "a figure", "a later week", "due on the same day", "its own lesson"],
)
def test_an_exercise_that_is_not_due_yet_is_found(
    given_away: Add, week: str, code: str, exercise: str
) -> None:
    assert any(exercise in message for message in given_away(week, code))


def test_an_exercise_of_a_week_that_is_due_may_be_shown(given_away: Add) -> None:
    assert given_away("week04", MASKED_SOFTMAX + ATTENTION) == []


def test_a_week_that_gives_an_exercise_away_is_refused(copy: Course) -> None:
    week = copy.weeks[2]
    lesson = copy.exercise_folder(week) / "lesson.md"
    lesson.write_text(f"```python\n{MASKED_SOFTMAX}\n```\n", "utf-8")
    with pytest.raises(LeakError, match=r"week03_multihead/lesson\.md:\d+: .* masked_softmax"):
        require_undisclosed(copy, week)
