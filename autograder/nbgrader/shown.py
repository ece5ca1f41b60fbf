"""What a page shows of a submitted notebook: for marking, and in the feedback.

Theory of operation. The notebook is the student's, even where it was mended when it was graded: an
older kit, or a hand, may have put it where we find it. So nothing in it reaches a page as it is.
Markdown and HTML go through `pages.markdown`, code through the highlighter and the sanitizer,
all else is text; an output of another kind is named and not shown. Of the metadata only what
nbgrader knows a cell by is read, and the templates escape it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..pages.markdown import code, embedded, harmless_explanation, markdown, plain

Notebook = Any
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")  # a student's
_WITHIN = "attachment:within-"  # the number of a picture that stands in the text
_DATA_PICTURE = re.compile(r"\((data:image/[a-z+]+;base64,[A-Za-z0-9+/]+={0,2})\)")
_FIGURES = {".png": "image/png", ".svg": "image/svg+xml"}  # the week's


@dataclass(frozen=True)
class ShownCell:
    """A cell as a page shows it; names and numbers are nbgrader's."""

    kind: str  # text or code
    text: Markup
    outputs: tuple[Markup, ...] = ()
    name: str = ""
    grade: bool = False
    solution: bool = False
    task: bool = False
    points: float = 0.0

    @property
    def marked(self) -> bool:
        """Return whether nbgrader gives points or comments here."""
        return self.grade or self.solution or self.task


def shown_cells(notebook: Notebook, figures: Path, *, below: int = 0) -> list[ShownCell]:
    """Every cell, in order. `figures` is the folder of the pictures that were handed out.

    The headings of the notebook come that many levels `below` the page's first.
    """
    known = {f"figures/{p.name}": p for p in figures.glob("*") if p.suffix in _FIGURES}
    return [_shown(cell, known, below) for cell in notebook.cells]


def _shown(cell: Notebook, figures: Mapping[str, Path], below: int) -> ShownCell:
    is_code, source = cell.get("cell_type") == "code", _joined(cell.get("source", ""))
    grading = cell.get("metadata", {}).get("nbgrader", {})
    grading = grading if isinstance(grading, dict) else {}
    return ShownCell(
        kind="code" if is_code else "text",
        text=_source(source, cell, figures, below),
        outputs=tuple(_outputs(cell)) if is_code else (),
        name=str(grading.get("grade_id", "")),
        grade=bool(grading.get("grade")),
        solution=bool(grading.get("solution")),
        task=bool(grading.get("task")),
        points=_number(grading.get("points")),
    )


def _number(value: Any) -> float:
    try:
        return float(value or 0)
    except (TypeError, ValueError):
        return 0.0


def _source(source: str, cell: Notebook, figures: Mapping[str, Path], below: int) -> Markup:
    if cell.get("cell_type") == "code":
        return code(source)
    if cell.get("cell_type") == "markdown":
        return _text(source, cell, figures, below)
    return plain(source)


def _text(source: str, cell: Notebook, figures: Mapping[str, Path], below: int) -> Markup:
    within: list[str] = []

    def taken_out(found: re.Match[str]) -> str:
        within.append(found.group(1))
        return f"({_WITHIN}{len(within) - 1})"

    def picture(address: str) -> str | None:
        if address.startswith(_WITHIN):
            number = address.removeprefix(_WITHIN)
            found = within[int(number)] if number.isdecimal() and int(number) < len(within) else ""
            return _from_within(found, figures)
        name = address.removeprefix("attachment:")
        if name != address:
            return _attached(cell, name)
        path = figures.get(address)
        return embedded(_FIGURES[path.suffix], _base64(path)) if path else None

    return markdown(_DATA_PICTURE.sub(taken_out, source), picture, below=below)


def _from_within(address: str, figures: Mapping[str, Path]) -> str | None:
    """A picture that stands in the text: of a student's kinds, or one that was handed out."""
    kind, _, data = address.removeprefix("data:").partition(";base64,")
    if kind not in _PICTURES and data not in map(_base64, figures.values()):
        return None
    return embedded(kind, data)


def _attached(cell: Notebook, name: str) -> str | None:
    bundles = cell.get("attachments")
    bundle = bundles.get(name) if isinstance(bundles, dict) else None
    if not isinstance(bundle, dict):
        return None
    return next((a for kind in _PICTURES if (a := embedded(kind, bundle.get(kind)))), None)


@cache
def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _outputs(cell: Notebook) -> Iterator[Markup]:
    """What is shown below code: our explanation, text and pictures; another kind by its name."""
    for output in cell.get("outputs", []):
        kind = output.get("output_type")
        if kind == "stream":
            yield plain(_joined(output.get("text", "")))
        elif kind == "error":
            yield plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")
        elif not _is_score(cell, output):
            yield _data(output.get("data", {}))


def _is_score(cell: Notebook, output: Notebook) -> bool:
    """The number that nbgrader reads stands in the explanation already."""
    graded = bool(cell.get("metadata", {}).get("nbgrader", {}))
    return graded and output.get("output_type") == "execute_result"


def _data(bundle: Mapping[str, Any]) -> Markup:
    if "text/html" in bundle:
        return harmless_explanation(_joined(bundle["text/html"]))
    for kind in _PICTURES:
        if address := embedded(kind, bundle.get(kind)):
            return Markup('<img src="{}" alt="a picture">').format(address)
    if "text/plain" in bundle:
        return plain(_joined(bundle["text/plain"]))
    return Markup("<p>[an output is not shown: {}]</p>").format(", ".join(map(str, bundle)))


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
