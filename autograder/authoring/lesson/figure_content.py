"""What a figure shows: its words and its numbers, as plain values that can be kept and compared.

Two drawings of one figure differ in their pixels from one version of a library to the next. What
they tell a reader does not: titles, labels, where lines and bars are, what cells of an image hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

Shown = dict[str, Any]  # of a figure: "words", "numbers", "smallest_text", "width"
_KEPT = 64  # numbers of one line or image; of longer ones evenly spaced samples
_DIGITS = 5
_CLOSE = 1e-3  # of the range that an artist's numbers span


def shown_of(figure: Any) -> Shown:
    """What a matplotlib figure shows."""
    words, numbers, sizes = [], {}, []
    for text in _texts(figure):
        words.append(text.get_text())
        sizes.append(float(text.get_fontsize()))
    for place, axes in enumerate(figure.axes):
        for name, values in _artists(axes):
            numbers[f"panel {place + 1}, {name}"] = _kept(values)
    return {
        "words": words,
        "numbers": numbers,
        "smallest_text": min(sizes, default=0.0),
        "width": round(float(figure.get_figwidth()), 2),
    }


def differences(kept: Shown, now: Shown, *, numbers: bool = True) -> list[str]:
    """What a reader is told otherwise, in words; without `numbers` only which there are."""
    found = []
    if kept["words"] != now["words"]:
        gone = [w for w in kept["words"] if w not in now["words"]]
        new = [w for w in now["words"] if w not in kept["words"]]
        found.append(f"its words (before {gone[:2]}, now {new[:2]})")
    if list(kept["numbers"]) != list(now["numbers"]):
        found.append("its parts: there are other lines, bars or images")
    elif numbers:
        for name, values in now["numbers"].items():
            if not _close(kept["numbers"][name], values):
                before = kept["numbers"][name]["values"][:3]
                found.append(f"{name} (begins {before}, now {values['values'][:3]})")
    return found


def _texts(figure: Any) -> Iterator[Any]:
    """All that can be read, in the order of drawing."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and _in_visible_axes(text):
            yield text


def _in_visible_axes(text: Any) -> bool:
    axes = text.axes
    return axes is None or bool(axes.get_visible() and (axes.axison or text in axes.texts))


def _artists(axes: Any) -> Iterator[tuple[str, Any]]:
    import numpy as np

    for number, line in enumerate(axes.lines):
        yield f"line {number + 1} x", line.get_xdata(orig=False)
        yield f"line {number + 1} y", line.get_ydata(orig=False)
    for number, image in enumerate(axes.images):
        yield f"image {number + 1}", np.ma.filled(image.get_array().astype(float), math.nan)
    for number, patch in enumerate(axes.patches):
        yield f"shape {number + 1}", _box(patch)
    for number, collection in enumerate(axes.collections):
        yield f"group {number + 1}", _collected(collection)


def _box(patch: Any) -> list[float]:
    """Left, bottom, right and top of a bar or another shape, in the axes' own units."""
    import numpy as np

    vertices = patch.get_patch_transform().transform(patch.get_path().vertices)
    inside = vertices[np.isfinite(vertices).all(-1)]
    return [*inside.min(0), *inside.max(0)] if len(inside) else []


def _collected(collection: Any) -> Any:
    """Where the members of a group are: their offsets, or the corners of their paths."""
    import numpy as np

    offsets = np.asarray(np.ma.filled(collection.get_offsets(), math.nan), dtype=float)
    if len(offsets) > 1:
        return offsets
    paths = [path.vertices for path in collection.get_paths()]
    return np.concatenate(paths) if paths else []


def _kept(values: Any) -> dict[str, Any]:
    """All numbers if they are few, else samples of them, first and last among these; and bounds."""
    import numpy as np

    array = np.asarray(values, dtype=float)
    flat = array.ravel()
    if flat.size > _KEPT:
        flat = flat[np.linspace(0, flat.size - 1, _KEPT).astype(int)]
    finite = array[np.isfinite(array)]
    return {
        "shape": list(array.shape),
        "bounds": [_rounded(finite.min()), _rounded(finite.max())] if finite.size else [],
        "values": [_rounded(value) for value in flat],
    }


def _rounded(value: float) -> float | None:
    """To a few digits; None if it is no number (JSON has none)."""
    if not math.isfinite(value) or value == 0:
        return 0.0 if value == 0 else None
    return float(f"{value:.{_DIGITS}g}")


def _close(kept: dict[str, Any], now: dict[str, Any]) -> bool:
    if kept["shape"] != now["shape"] or not _all_close(kept["bounds"], now["bounds"], kept):
        return False
    return _all_close(kept["values"], now["values"], kept)


def _all_close(kept: Sequence[Any], now: Sequence[Any], scale: dict[str, Any]) -> bool:
    low, high = scale["bounds"] or (0.0, 0.0)
    tolerance = _CLOSE * max(high - low, 1e-30)
    return len(kept) == len(now) and all(
        a == b
        or (
            a is not None
            and b is not None
            and abs(a - b) <= max(tolerance, _CLOSE * max(abs(a), abs(b)))
        )
        for a, b in zip(kept, now, strict=True)
    )
