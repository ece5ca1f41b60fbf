"""A page with something to move, laid beside a lesson, shown in its notebook with data from there.

The page is one HTML file that needs no network. It stands in a frame of its own, so that neither
its styles nor its script touch the notebook; where scripts do not run it shows what it says without
them. Opened in a browser by itself, it works with the data that it brings.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

_DATA = re.compile(r'(<script id="data" type="application/json">)(.*?)(</script>)', re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_HEIGHT = re.compile(r'<meta name="height" content="(\d+)">')


class ExplorablePage:
    """An HTML page with its data: a frame in a notebook, a line of text elsewhere."""

    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        text = path.read_text(encoding="utf-8")
        self.name, self.title = path.name, _found(_TITLE, text, path.name)
        self.height = int(_found(_HEIGHT, text, "400"))
        filled = json.dumps(data).replace("<", "\\u003c") if data else None
        self.page = _DATA.sub(lambda m: m[1] + (filled or m[2]) + m[3], text, count=1)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.page)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"{self.title} (to move things, open {self.name} in a browser)"


def _found(pattern: re.Pattern[str], text: str, otherwise: str) -> str:
    found = pattern.search(text)
    return found[1].strip() if found else otherwise


def open_page(name: str, folder: str | Path | None, data: dict[str, Any]) -> ExplorablePage | str:
    """The page of that name; a sentence if it is not there."""
    path = Path(folder or ".") / name
    if not path.is_file():
        return f"{name} is not beside this notebook; the figure shows the same without movement."
    return ExplorablePage(path, data)
