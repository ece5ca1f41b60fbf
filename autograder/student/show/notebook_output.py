"""Render results and interactive pages as HTML in a notebook cell.

Text and lines use the colours of the notebook's theme. No information is conveyed by colour alone.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..checks.check_results import CheckResult
from ..folder.lessons import Hint
from . import wording
from .check_text import REMINDER, WeekProgress, hint_lines, progress_lines

_DATA = re.compile(r'(<script id="data" type="application/json">)(.*?)(</script>)', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_HEIGHT = re.compile(r'<meta name="height" content="(\d+)">')


class NotebookOutput:
    """The result of a notebook function, as text and as HTML from a template in this package."""

    passed = False  # as if a check had failed, for errors that prevent it from running

    def __init__(self, text: str, template: str, **values: Any) -> None:
        self._text, self._template, self._values = text, template, values

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return _rendered(self._template, **self._values)


def message_output(message: str, hints: Sequence[Hint] = ()) -> NotebookOutput:
    """Render hints, followed by the message unless it is empty."""
    lines = [line.plain.rstrip() for hint in hints for line in hint_lines(hint)]
    text = "\n".join([*lines, message] if message else lines)
    return NotebookOutput(text, "hints.html.j2", hints=hints, message=message)


def progress_output(weeks: list[WeekProgress]) -> NotebookOutput:
    """Render the progress in each week."""
    text = "\n".join(line.plain.rstrip() for line in progress_lines(weeks))
    return NotebookOutput(text, "progress.html.j2", weeks=weeks, reminder=REMINDER)


def check_html(result: CheckResult) -> str:
    """Render a check's result."""
    return _rendered("check.html.j2", result=result)


def _rendered(template: str, **values: Any) -> str:
    from ...pages.environment import environment  # jinja2 is not needed in a terminal

    return environment("student").get_template(template).render(wording=wording, **values)


def open_page(name: str, folder: str | Path | None, data: dict[str, Any]) -> NotebookOutput | str:
    """Return an interactive page in a frame, or a sentence if `folder` does not contain the page.

    The page is an HTML file that needs no network. The frame isolates the page's styles and script
    from the notebook. data: replaces the data in the page, unless `data` is empty.
    """
    path = Path(folder or ".") / name
    if not path.is_file():
        return f"{name} is not in this folder; the figure shows the same without interaction."
    text = path.read_text(encoding="utf-8")
    title, height = _TITLE.search(text), _HEIGHT.search(text)
    label = title[1].strip() if title else name
    filled = json.dumps(data).replace("<", "\\u003c") if data else None
    page = _DATA.sub(lambda m: m[1] + (filled or m[2]) + m[3], text, count=1)
    plain = f"{label} (interactive: open {name} in a browser)"
    values = {"title": label, "page": page, "height": int(height[1]) if height else 400}
    return NotebookOutput(plain, "page.html.j2", **values)
