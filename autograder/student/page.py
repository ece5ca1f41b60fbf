"""The result of `check(...)` as HTML in a notebook.

Text and lines keep the colours of the notebook, whatever its theme; colour carries nothing alone.
"""

from __future__ import annotations

from ..pages.environment import environment
from .results import CheckResult
from .words import MARKS, cause, first_failure, next_steps, points, standing, summary


def checked_html(result: CheckResult) -> str:
    template = environment("student").get_template("check.html.j2")
    return template.render(
        result=result,
        marks=MARKS,
        standing=standing,
        points=points,
        failing=first_failure(result),
        cause=cause,
        summary="" if result.problem else summary(result),
        steps=next_steps(result),
    )
