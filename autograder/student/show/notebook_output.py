"""Results as HTML in a notebook cell.

Text and lines use the colours of the notebook's theme; no information is conveyed by colour only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checks.check_results import CheckResult, Failure
from .check_text import hint_lines
from .hints import Hint
from .progress import REMINDER, WeekProgress, progress_lines
from .wording import (
    MARKS,
    cause,
    first_failure,
    inherited,
    lines_to_check,
    next_steps,
    obstacles,
    points,
    status,
    summary,
)


class NotebookOutput:
    """The result of a notebook function, as text and as HTML from a template in this package."""

    def __init__(self, text: str, template: str, **values: Any) -> None:
        self._text, self._template, self._values = text, template, values

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return _rendered(self._template, **self._values)


def message_output(message: str, hints: Sequence[Hint] = ()) -> NotebookOutput:
    """Return hints, followed by a message if there is one."""
    lines = [line.plain.rstrip() for hint in hints for line in hint_lines(hint)]
    text = "\n".join([*lines, message] if message else lines)
    return NotebookOutput(text, "hints.html.j2", hints=hints, message=message)


def progress_output(weeks: list[WeekProgress]) -> NotebookOutput:
    """Return the progress in each week."""
    text = "\n".join(line.plain.rstrip() for line in progress_lines(weeks))
    values = {"weeks": weeks, "marks": MARKS, "points": points, "status": status}
    return NotebookOutput(text, "progress.html.j2", **values, reminder=REMINDER)


def check_html(result: CheckResult) -> str:
    """Render a check's result."""
    return _rendered(
        "check.html.j2",
        result=result,
        marks=MARKS,
        status=status,
        points=points,
        obstacles=obstacles(result),
        failing=first_failure(result),
        cause=_cell_cause,
        inherited=inherited,
        lines_to_check=lines_to_check,
        summary="" if result.problem else summary(result),
        steps=[(_cell_step(step), remark) for step, remark in next_steps(result)],
    )


def _rendered(template: str, **values: Any) -> str:
    from ...pages.environment import environment  # jinja2 is not needed in a terminal

    return environment("student").get_template(template).render(**values)


def _cell_cause(failure: Failure, exercise: str, module: str) -> str:
    """Prefix commands in the sentence with `!` for a notebook."""
    return cause(failure, exercise, module).replace("`autograder ", "`!autograder ")


def _cell_step(step: str) -> str:
    name = step.removeprefix("autograder hint ")
    return step if name == step else f'hint("{name}")'
