"""Record the contents of the lessons' figures, text and values, which tests compare with the text.

After `autograder build --figures`, update the record:

    python -m tests.lessons.figure_contents
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from autograder.authoring.lesson.figures import make_figures, read_record
from autograder.model.course import Week, load

PROJECT = load(Path(__file__).resolve().parents[2])
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "figures"
Content = dict[str, Any]  # of a figure: "words", "numbers", "smallest_text", "width"
_MAX_VALUES = 64  # of one line or image; longer ones are sampled evenly
_DIGITS = 5


def content_of(figure: Any) -> Content:
    """Return the contents of a matplotlib figure as JSON values."""
    words, numbers, sizes = [], {}, []
    for text in _texts(figure):
        words.append(text.get_text())
        sizes.append(float(text.get_fontsize()))
    for place, axes in enumerate(figure.axes):
        for name, values in _artists(axes):
            numbers[f"panel {place + 1}, {name}"] = _summary(values)
    return {
        "words": words,
        "numbers": numbers,
        "smallest_text": min(sizes, default=0.0),
        "width": round(float(figure.get_figwidth()), 2),
    }


def _texts(figure: Any) -> Iterator[Any]:
    """Yield the visible texts in drawing order."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        axes = text.axes
        shown = axes is None or (axes.get_visible() and (axes.axison or text in axes.texts))
        if shown and text.get_visible() and text.get_text().strip():
            yield text


def _artists(axes: Any) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(axes.lines):
        yield f"line {number + 1} x", line.get_xdata(orig=False)
        yield f"line {number + 1} y", line.get_ydata(orig=False)
    for number, image in enumerate(axes.images):
        yield f"image {number + 1}", np.ma.filled(image.get_array().astype(float), math.nan)
    for number, patch in enumerate(axes.patches):
        yield f"shape {number + 1}", _box(patch)
    for number, collection in enumerate(axes.collections):
        yield f"group {number + 1}", _positions(collection)


def _box(patch: Any) -> list[float]:
    """Return left, bottom, right and top of a bar or similar shape, in the axes' units."""
    vertices = patch.get_patch_transform().transform(patch.get_path().vertices)
    inside = vertices[np.isfinite(vertices).all(-1)]
    return [*inside.min(0), *inside.max(0)] if len(inside) else []


def _positions(collection: Any) -> Any:
    """Return the offsets of a collection's members, or the corners of their paths."""
    offsets = np.asarray(np.ma.filled(collection.get_offsets(), math.nan), dtype=float)
    if len(offsets) > 1:
        return offsets
    paths = [path.vertices for path in collection.get_paths()]
    return np.concatenate(paths) if paths else []


def _summary(values: Any) -> dict[str, Any]:
    """Return shape, bounds and values; evenly spaced samples of them if there are many."""
    array = np.asarray(values, dtype=float)
    flat = array.ravel()
    if flat.size > _MAX_VALUES:
        flat = flat[np.linspace(0, flat.size - 1, _MAX_VALUES).astype(int)]
    finite = array[np.isfinite(array)]
    return {
        "shape": list(array.shape),
        "bounds": [_rounded(finite.min()), _rounded(finite.max())] if finite.size else [],
        "values": [_rounded(value) for value in flat],
    }


def _rounded(value: float) -> float | None:
    """Round to a few digits; return None for NaN and infinity, which JSON cannot represent."""
    if not math.isfinite(value) or value == 0:
        return 0.0 if value == 0 else None
    return float(f"{value:.{_DIGITS}g}")


def recorded(week: Week) -> dict[str, Any]:
    """Return the contents of a week's figures by name, each with the digest of its file."""
    read: dict[str, Any] = json.loads((GOLDEN / f"{week.name}.json").read_text(encoding="utf-8"))
    return read


def write_contents(week: Week) -> None:
    record = read_record(PROJECT, week)
    assert record is not None
    contents = {
        stem: {"hash": record["figures"][stem]["hash"], **content_of(figure)}
        for stem, figure in make_figures(PROJECT, week).items()
    }
    text = json.dumps(contents, ensure_ascii=False, separators=(",", ":")).replace("},", "},\n")
    (GOLDEN / f"{week.name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in PROJECT.weeks:
        write_contents(each)
