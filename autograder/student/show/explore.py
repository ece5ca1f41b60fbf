"""Show an interactive page of a lesson in its notebook, with data from the notebook.

The page is one HTML file that needs no network. It runs in a frame, so its styles and script cannot
affect the notebook. Opened in a browser, it shows the data that it contains.
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
        title, height = _TITLE.search(text), _HEIGHT.search(text)
        self.name, self.title = path.name, title[1].strip() if title else path.name
        self.height = int(height[1]) if height else 400
        filled = json.dumps(data).replace("<", "\\u003c") if data else None
        self.page = _DATA.sub(lambda m: m[1] + (filled or m[2]) + m[3], text, count=1)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{html.escape(self.title)}" srcdoc="{html.escape(self.page)}" '
            f'style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"{self.title} (interactive: open {self.name} in a browser)"


def open_page(name: str, folder: str | Path | None, data: dict[str, Any]) -> ExplorablePage | str:
    """Return the page of that name in `folder`, or a sentence if it is missing."""
    path = Path(folder or ".") / name
    if not path.is_file():
        return f"{name} is not in this folder; the figure shows the same without interaction."
    return ExplorablePage(path, data)
