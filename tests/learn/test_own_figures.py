"""The figures of a finished week are drawn with the learner's module, and only those."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.learn.learner_record import LearnerFolder
from autograder.learn.own_figures import are_drawn, draw_figures, figures_folder, own_figures
from autograder.model.course import Week
from tests.learn.test_command import FIGURES
from tests.nbgrader.tiny_course import SOLUTION

HALVE_MISSING = SOLUTION.replace("x * 0.5", "None.missing")


@pytest.fixture
def module(learner: LearnerFolder, week: Week) -> Path:
    (learner.course.solution_folder(week) / "figures.py").write_text(FIGURES)
    return learner.week(week).module


def drawn(learner: LearnerFolder, week: Week, module: Path) -> set[str]:
    folder = figures_folder(learner, week)
    draw_figures(learner.course, week, module, folder)
    return {path.stem for path in folder.iterdir()} - {"module"}


def test_figures_without_an_exercise_are_left_out(
    learner: LearnerFolder, week: Week, module: Path
) -> None:
    module.write_text(SOLUTION)
    assert drawn(learner, week, module) == {"numbers", "halves"}


def test_a_figure_that_fails_leaves_the_others(
    learner: LearnerFolder, week: Week, module: Path
) -> None:
    module.write_text(HALVE_MISSING)
    assert drawn(learner, week, module) == {"numbers"}


def test_they_are_drawn_once_for_each_version(
    learner: LearnerFolder, week: Week, module: Path
) -> None:
    assert not are_drawn(learner, week)
    module.write_text(SOLUTION)
    drawn(learner, week, module)
    assert are_drawn(learner, week)
    assert own_figures(learner, week) == [("numbers.png", "A number and its double")]
    module.write_text(HALVE_MISSING)
    assert not are_drawn(learner, week)
    module.unlink()
    assert are_drawn(learner, week)
