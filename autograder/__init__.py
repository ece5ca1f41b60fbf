"""An auto-graded exercise kit.

In a notebook, `check("mean_pool")` runs the public checks of an exercise on the file next to it,
`hint("mean_pool")` shows the next hint, `progress()` shows the results so far,
`explore("page.html")` shows an interactive page, and `solution("mean_pool")` shows how a released
solution differs from your version.
"""

import os
from pathlib import Path
from typing import Any

from .version import __version__

__all__ = ["__version__", "check", "explore", "hint", "progress", "solution"]


def check(exercise: str | None = None, folder: str | Path | None = None) -> Any:
    """Run the public checks of one exercise, or of all exercises if none is given.

    folder: a week's folder; default: the folder in which the notebook runs.

    Return a result that renders as a table in a notebook and as text elsewhere. Under nbgrader's
    Validate button, a failing check raises NotPassed, because the button reports only exceptions.
    """
    from .student.commands.check import NotPassed, check_in_notebook

    result = check_in_notebook(exercise, _path(folder))
    if os.environ.get("NBGRADER_EXECUTION") == "validate" and not result.passed:
        raise NotPassed(repr(result))
    return result


def hint(exercise: str | None = None, again: bool = False, folder: str | Path | None = None) -> Any:
    """Show the hints seen so far and the next one (default: for the next exercise to work on).

    again: show only the hints seen before.
    """
    from .student.commands.check import hint_in_notebook

    return hint_in_notebook(exercise, again, _path(folder))


def explore(page: str, folder: str | Path | None = None, **data: Any) -> Any:
    """Show an interactive page from `folder` (default: the notebook's) with `data` in the page."""
    from .student.show.notebook_output import open_page

    return open_page(page, folder, data)


def solution(
    exercise: str | None = None, folder: str | Path | None = None, source: str | Path | None = None
) -> Any:
    """Show how a released solution differs from your version, or say when it will be released.

    source: the folder of the released solutions, if it is not next to the week's folder.
    """
    from .student.show.solution import solution_output

    return solution_output(exercise, _path(folder), _path(source))


def progress(folder: str | Path | None = None) -> Any:
    """Show your progress in each week, based on the latest checks."""
    from .student.commands.check import progress_in_notebook

    return progress_in_notebook(_path(folder))


def _path(folder: str | Path | None) -> Path | None:
    return None if folder is None else Path(folder).expanduser()
