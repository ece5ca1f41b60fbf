"""Draw the figures of lessons into assets/, and check that they are up to date.

`figures.py` in a week's solution folder returns matplotlib figures by name. Line art is written as
SVG, figures with images as PNG, all in the style assets/figures.mplstyle. SVGs follow the reader's
preference for dark pages; PNGs keep a white background.

assets/<week>/figures.json records the contents of each figure (text and values, not pixels, which
tests compare with the lesson's text) and a digest of the sources. `build --check` compares files
and sources with this record.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.course import Course, Week
from ...model.errors import BuildError

RECORD = "figures.json"
_DPI = 110
_STYLE = "figures.mplstyle"
_SOURCES = ("*.py", "*.csv")
# Inverting all colours keeps the order of greys; only the reader's browser knows the preference.
_DARK = (
    "<style>@media (prefers-color-scheme: dark){svg{filter:invert(.93) hue-rotate(180deg)}}</style>"
)


def draw_figures(course: Course, week: Week) -> list[Path]:
    """Replace all figures of a week and their record; return the written figures."""
    figures = make_figures(course, week)
    if not figures:
        return []
    folder = course.figures(week)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.png"), *folder.glob("*.svg")):
        old.unlink()
    entries, written = {}, []
    for stem, figure in figures.items():
        name, content = _file(stem, figure, course)
        (folder / name).write_bytes(content)
        entries[stem] = {"file": name, "hash": _digest(content), "shows": content_of(figure)}
        written.append(folder / name)
    record = {"sources": sources_digest(course, week), "figures": entries}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("},", "},\n")
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
    return written


def stale_figures(course: Course, week: Week) -> Iterator[str]:
    """Yield a message for each missing or changed figure, and one if any source has changed."""
    if not _source(course, week).is_file():
        return
    folder = course.figures(week)
    where = folder.relative_to(course.root)
    remedy = "run `autograder build --figures`"
    record = read_record(course, week)
    if record is None:
        yield f"{where}/{RECORD} is missing: {remedy}"
        return
    for entry in record["figures"].values():
        path = folder / entry["file"]
        if not path.is_file():
            yield f"{where}/{entry['file']} is missing: {remedy}"
        elif _digest(path.read_bytes()) != entry["hash"]:
            yield f"{where}/{entry['file']} was changed by hand: {remedy}"
    if record["sources"] != sources_digest(course, week):
        yield f"{where}: the sources of its figures have changed: {remedy}"


def read_record(course: Course, week: Week) -> dict[str, Any] | None:
    """Return the content of assets/<week>/figures.json, or None if it is missing."""
    path = course.figures(week) / RECORD
    if not path.is_file():
        return None
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def sources_digest(course: Course, week: Week) -> str:
    """Return a digest of every file that a week's figures depend on."""
    folder = course.solution_folder(week)
    paths = [
        p for pattern in _SOURCES for p in (*folder.glob(pattern), *folder.parent.glob(pattern))
    ]
    paths += [course.root / "assets" / name for name in (*week.files, _STYLE)]
    digest = hashlib.blake2b(digest_size=16)
    # figures are drawn from the solution; trivial programs take no part in them
    for path in sorted(p for p in paths if p.is_file() and p.name != "trivial.py"):
        digest.update(path.relative_to(course.root).as_posix().encode() + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def make_figures(course: Course, week: Week) -> dict[str, Any]:
    """Return a week's matplotlib figures by name; empty if the week has no figures.py."""
    source = _source(course, week)
    if not source.is_file():
        return {}
    import matplotlib

    matplotlib.use("Agg")
    import torch
    from matplotlib import pyplot

    torch.manual_seed(0)
    with _course_style(course), _importable(source.parent):
        module = importlib.import_module(source.stem)
        try:
            figures: dict[str, Any] = module.figures()
        except Exception as error:
            where = source.relative_to(course.root)
            raise BuildError(
                f"{where}: figures() raised {type(error).__name__}: {error}"
            ) from error
        finally:
            pyplot.close("all")
        for figure in figures.values():
            figure.draw_without_rendering()  # completes the layout
    return figures


def _source(course: Course, week: Week) -> Path:
    return course.solution_folder(week) / "figures.py"


def _file(stem: str, figure: Any, course: Course) -> tuple[str, bytes]:
    """Return a figure's file name and content, without metadata of this machine or day."""
    buffer = io.BytesIO()
    lines_only = not any(axes.images for axes in figure.axes)
    kind = "svg" if lines_only else "png"
    metadata = {"Date": None, "Creator": None} if lines_only else {"Software": None}
    with _course_style(course):
        figure.savefig(buffer, format=kind, dpi=_DPI, bbox_inches="tight", metadata=metadata)
    content = buffer.getvalue()
    if lines_only:
        content = content.replace(b"<defs>", _DARK.encode() + b"<defs>", 1)
    return f"{stem}.{kind}", content


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _course_style(course: Course) -> contextlib.AbstractContextManager[None]:
    import matplotlib

    style = course.root / "assets" / _STYLE
    return matplotlib.rc_context(fname=style if style.is_file() else None)


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Allow imports from a week's folder and its parent; unload their modules afterwards."""
    before = set(sys.modules)
    sys.path[:0] = [str(folder), str(folder.parent)]
    try:
        yield
    finally:
        for place in (folder, folder.parent):
            sys.path.remove(str(place))
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if origin.startswith(str(folder.parent)):
                del sys.modules[name]


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
    import numpy as np

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
    import numpy as np

    vertices = patch.get_patch_transform().transform(patch.get_path().vertices)
    inside = vertices[np.isfinite(vertices).all(-1)]
    return [*inside.min(0), *inside.max(0)] if len(inside) else []


def _positions(collection: Any) -> Any:
    """Return the offsets of a collection's members, or the corners of their paths."""
    import numpy as np

    offsets = np.asarray(np.ma.filled(collection.get_offsets(), math.nan), dtype=float)
    if len(offsets) > 1:
        return offsets
    paths = [path.vertices for path in collection.get_paths()]
    return np.concatenate(paths) if paths else []


def _summary(values: Any) -> dict[str, Any]:
    """Return shape, bounds and values; evenly spaced samples of them if there are many."""
    import numpy as np

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
