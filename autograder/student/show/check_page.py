"""What `check(...)`, `hint(...)`, `progress()` and `solution(...)` return, as HTML in a notebook.

Text and lines keep the colours of the notebook, whatever its theme; colour carries nothing alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...pages.environment import environment
from ..checks.results import CheckResult, Failure
from .hints import Hint
from .progress import WeekProgress, words_of
from .solution import Beside
from .wording import (
    MARKS,
    cause,
    first_failure,
    inherits,
    next_steps,
    obstacles,
    points,
    standing,
    summary,
    where,
)


def checked_html(result: CheckResult) -> str:
    template = environment("student").get_template("check.html.j2")
    return template.render(
        result=result,
        marks=MARKS,
        standing=standing,
        points=points,
        obstacles=obstacles(result),
        failing=first_failure(result),
        cause=_cause,
        inherits=inherits,
        where=where,
        summary="" if result.problem else summary(result),
        steps=[(_in_a_cell(step), remark) for step, remark in next_steps(result)],
    )


def hints_html(hints: Sequence[Hint], said: str) -> str:
    return environment("student").get_template("hints.html.j2").render(hints=hints, said=said)


def progress_html(weeks: Sequence[WeekProgress], said: str) -> str:
    template = environment("student").get_template("progress.html.j2")
    return template.render(
        weeks=weeks, said=said, marks=MARKS | {"unknown": "?"}, points=points, words=words_of
    )


def solution_html(found: Beside | None, said: str) -> str:
    template = environment("student").get_template("solution.html.j2")
    return template.render(found=found, said=said)


def _cause(failure: Failure, exercise: str, module: str) -> str:
    """A command in it as it is typed into a cell."""
    return cause(failure, exercise, module).replace("`autograder ", "`!autograder ")


def _in_a_cell(step: str) -> str:
    name = step.removeprefix("autograder hint ")
    return step if name == step else f'hint("{name}")'
