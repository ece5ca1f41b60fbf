"""An auto-graded course exercise kit: attention from scratch.

In a notebook: `check("softmax")` runs the public checks of an exercise on the file beside it,
`hint("softmax")` gives the next hint, `progress()` shows how far you are,
`explore("temperature.html")` shows a page with something to move,
`solution("softmax")` shows a released solution beside one's own.
"""

import sys
from pathlib import Path
from typing import Any

from .version import __version__

__all__ = ["__version__", "check", "explore", "hint", "progress", "solution"]


def check(exercise: str | None = None, folder: str | Path | None = None) -> Any:
    """Run the public checks of one exercise (or all of the folder) on the student's own files.

    folder: a week's folder; the one that the notebook works in by default.

    Returns a result that renders as a table in a notebook and as text elsewhere. Under nbgrader's
    Validate button a check that does not pass raises: the button knows no other sign.
    """
    from .student.commands.check import NotPassed, being_validated
    from .student.commands.notebook import check_warm

    result = check_warm(exercise, folder)
    if being_validated() and not result.passed:
        raise NotPassed(repr(result))
    return result


def hint(exercise: str | None = None, again: bool = False, folder: str | Path | None = None) -> Any:
    """The next hint for an exercise (default: the one to work on), after those seen before.

    again: those seen before, and no new one.
    """
    from .student.commands.notebook import show_hints

    return show_hints(exercise, again, folder)


def explore(page: str, folder: str | Path | None = None, **data: Any) -> Any:
    """A page that lies beside the notebook, with something to move; `data` goes into it."""
    from .student.show.explore import open_page

    return open_page(page, folder, data)


def solution(
    exercise: str | None = None,
    folder: str | Path | None = None,
    source: str | Path | None = None,
) -> Any:
    """A released solution beside what one wrote, with what differs; until then, when it comes.

    source: the folder or zip of the released solutions, if it does not lie beside the week
    """
    from .student.show.solution_view import show_solution

    return show_solution(exercise, folder, source)


def progress(folder: str | Path | None = None) -> Any:
    """How far you are in every week that lies here, as the last checks left it."""
    from .student.commands.notebook import show_progress

    return show_progress(folder)


if "ipykernel" in sys.modules:
    from .student.commands.notebook import begin

    begin()  # while a student reads what comes next, torch is imported by what will check
