"""Render the cells of a submitted notebook safely, for marking and for feedback.

Even a repaired notebook is not trusted, because a person may have replaced it. So none of its
content reaches a page unchanged. Markdown and HTML go through `pages.markdown`, code through the
highlighter and the sanitizer, and other content is shown as plain text. For unsupported outputs,
only the type is shown. The templates escape the metadata that identifies a cell.

Rendered texts are cached, because most cells are unchanged released cells or short explanations.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from ...pages.markdown import code, embedded, harmless_explanation, markdown, plain
from ..collect.notebooks import DATA_URL, PICTURES, joined, pictures_of, source_of

Notebook = Any
_INLINE = "attachment:within-"  # prefix of placeholders for the data URLs in a text
_FIGURES = {".png": "image/png", ".svg": "image/svg+xml"}  # media types of released figures
_MAX_CACHED = 16 << 10  # length of the longest text whose rendering is cached


class RenderedCell(msgspec.Struct, frozen=True):
    """A cell as HTML, with its nbgrader metadata."""

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
        """Return True if the cell can have points or comments."""
        return self.grade or self.solution or self.task


class _Figure(NamedTuple):
    """A released figure; the modification time invalidates cached texts."""

    path: Path
    modified: int


def rendered_cells(
    cells: Iterable[Notebook], figures: Path, *, below: int = 0
) -> list[RenderedCell]:
    """Return cells of a notebook as HTML.

    figures: folder of the released figures. below: level of the heading above the notebook
    """
    paths = (path for path in sorted(figures.glob("*")) if path.suffix in _FIGURES)
    released = tuple(_Figure(path, path.stat().st_mtime_ns) for path in paths)
    return [_rendered_cell(cell, released, below) for cell in cells]


def _rendered_cell(cell: Notebook, figures: tuple[_Figure, ...], below: int) -> RenderedCell:
    kind, source = str(cell.get("cell_type")), source_of(cell)
    grading = cell.get("metadata", {}).get("nbgrader", {})
    grading = grading if isinstance(grading, dict) else {}
    if cell.get("attachments") or len(source) > _MAX_CACHED:
        text = _rendered_text(source, kind, figures, below, cell)
    else:
        text = _cached_text(source, kind, figures, below)
    return RenderedCell(
        kind="code" if kind == "code" else "text",
        text=text,
        outputs=tuple(_outputs(cell)) if kind == "code" else (),
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


def _rendered_text(
    source: str, kind: str, figures: tuple[_Figure, ...], below: int, cell: Notebook
) -> Markup:
    if kind == "code":
        return code(source)
    if kind != "markdown":
        return plain(source)
    by_address = {f"figures/{figure.path.name}": figure for figure in figures}
    data_urls: list[str] = []

    def take_out(found: re.Match[str]) -> str:
        data_urls.append(found.group(1))
        return f"({_INLINE}{len(data_urls) - 1})"

    def picture(address: str) -> str | None:
        if address.startswith(_INLINE):
            number = address.removeprefix(_INLINE)
            known = number.isdecimal() and int(number) < len(data_urls)
            return _inline_picture(data_urls[int(number)] if known else "", figures)
        name = address.removeprefix("attachment:")
        if name != address:
            bundle = pictures_of(cell).get(name, {})
            return next((a for kind, data in bundle.items() if (a := embedded(kind, data))), None)
        figure = by_address.get(address)
        return embedded(_FIGURES[figure.path.suffix], _base64(figure)) if figure else None

    return markdown(DATA_URL.sub(take_out, source), picture, below=below)


@lru_cache(maxsize=1024)
def _cached_text(source: str, kind: str, figures: tuple[_Figure, ...], below: int) -> Markup:
    return _rendered_text(source, kind, figures, below, {})


def _inline_picture(address: str, figures: tuple[_Figure, ...]) -> str | None:
    """Return a data URL if it has an allowed media type or is a released figure, else None."""
    kind, _, data = address.removeprefix("data:").partition(";base64,")
    if kind not in PICTURES and data not in map(_base64, figures):
        return None
    return embedded(kind, data)


@lru_cache(maxsize=256)
def _base64(figure: _Figure) -> str:
    return base64.b64encode(figure.path.read_bytes()).decode("ascii")


def _outputs(cell: Notebook) -> Iterator[Markup]:
    graded = bool(cell.get("metadata", {}).get("nbgrader", {}))
    for output in cell.get("outputs", []):
        kind = output.get("output_type")
        if kind == "stream":
            yield plain(joined(output.get("text", "")))
        elif kind == "error":
            yield plain(f"{output.get('ename', '')}: {output.get('evalue', '')}")
        elif not (graded and kind == "execute_result"):  # the page shows the score elsewhere
            yield _data(output.get("data", {}))


def _data(bundle: Mapping[str, Any]) -> Markup:
    if "text/html" in bundle:
        shown = joined(bundle["text/html"])
        return _explained(shown) if len(shown) <= _MAX_CACHED else harmless_explanation(shown)
    for kind in PICTURES:
        if address := embedded(kind, bundle.get(kind)):
            return Markup('<img src="{}" alt="a picture">').format(address)
    if "text/plain" in bundle:
        return plain(joined(bundle["text/plain"]))
    return Markup("<p>[an output is not shown: {}]</p>").format(", ".join(map(str, bundle)))


_explained = lru_cache(maxsize=512)(harmless_explanation)
