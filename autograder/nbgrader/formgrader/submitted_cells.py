"""What a page shows of a submitted notebook: for marking, and in the feedback.

Theory of operation. The notebook is the student's, even where it was mended when it was graded: an
older kit, or a hand, may have put it where we find it. So nothing in it reaches a page as it is.
Markdown and HTML go through `pages.markdown`, code through the highlighter and the sanitizer,
all else is text; an output of another kind is named and not shown. Of the metadata only what
nbgrader knows a cell by is read, and the templates escape it.

Most cells of a class are as they were handed out: what such a text looks like is made once. Of what
students wrote nothing is kept but short explanations, which many have word for word.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...pages.markdown import code, embedded, harmless_explanation, markdown, plain
from ..collect.notebooks import read_cells

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
    known = sorted(p for p in figures.glob("*") if p.suffix in _FIGURES)
    released = [_Version.of(p) for p in sorted(figures.parent.glob("*.ipynb"))]
    place = _Around(
        tuple(map(_Version.of, known)), frozenset().union(*map(_texts, released)), below
    )
    return [_shown(cell, place) for cell in notebook.cells]


@dataclass(frozen=True)
class _Version:
    """A file as it is now: whatever is made from it is made again once it has changed."""

    path: Path
    changed: int
    size: int

    @classmethod
    def of(cls, path: Path) -> _Version:
        found = path.stat()
        return cls(path, found.st_mtime_ns, found.st_size)


@dataclass(frozen=True)
class _Around:
    """Where a cell is shown: with the pictures and among the texts that were handed out."""

    figures: tuple[_Version, ...]
    texts: frozenset[str]
    below: int

    @property
    def pictures(self) -> dict[str, _Version]:
        return {f"figures/{f.path.name}": f for f in self.figures}


@lru_cache(maxsize=16)
def _texts(released: _Version) -> frozenset[str]:
    """The texts of a released notebook's cells."""
    return frozenset(_joined(cell.get("source", "")) for cell in read_cells(released.path))


def _shown(cell: Notebook, place: _Around) -> ShownCell:
    is_code, source = cell.get("cell_type") == "code", _joined(cell.get("source", ""))
    grading = cell.get("metadata", {}).get("nbgrader", {})
    grading = grading if isinstance(grading, dict) else {}
    return ShownCell(
        kind="code" if is_code else "text",
        text=_source(source, cell, place),
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


def _source(source: str, cell: Notebook, place: _Around) -> Markup:
    kind = str(cell.get("cell_type"))
    if source in place.texts and not cell.get("attachments"):
        return _as_handed_out(source, kind, place.figures, place.below)
    return _written(source, kind, cell, place.pictures, place.below)


@lru_cache(maxsize=1024)
def _as_handed_out(source: str, kind: str, figures: tuple[_Version, ...], below: int) -> Markup:
    """What a text looks like that everybody has."""
    return _written(source, kind, {}, _Around(figures, frozenset(), below).pictures, below)


def _written(
    source: str, kind: str, cell: Notebook, figures: Mapping[str, _Version], below: int
) -> Markup:
    if kind == "code":
        return code(source)
    if kind == "markdown":
        return _text(source, cell, figures, below)
    return plain(source)


def _text(source: str, cell: Notebook, figures: Mapping[str, _Version], below: int) -> Markup:
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
        figure = figures.get(address)
        if figure is None:
            return None
        return embedded(_FIGURES[figure.path.suffix], _base64(figure))

    return markdown(_DATA_PICTURE.sub(taken_out, source), picture, below=below)


def _from_within(address: str, figures: Mapping[str, _Version]) -> str | None:
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


@lru_cache(maxsize=256)
def _base64(figure: _Version) -> str:
    return base64.b64encode(figure.path.read_bytes()).decode("ascii")


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
        shown = _joined(bundle["text/html"])
        return _explained(shown) if len(shown) <= _SHORT else harmless_explanation(shown)
    for kind in _PICTURES:
        if address := embedded(kind, bundle.get(kind)):
            return Markup('<img src="{}" alt="a picture">').format(address)
    if "text/plain" in bundle:
        return plain(_joined(bundle["text/plain"]))
    return Markup("<p>[an output is not shown: {}]</p>").format(", ".join(map(str, bundle)))


_SHORT = 16 << 10
_explained = lru_cache(maxsize=512)(harmless_explanation)


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
