"""The lessons' figures, drawn from the solutions into assets/ by one command, and held to it.

`figures.py` beside a week's solution returns the figures by name. A figure of lines is written as
SVG, one with an image in it (a heatmap) as PNG. All are drawn in one style,
assets/figures.mplstyle. SVGs follow a reader who prefers dark pages; PNGs stay on white.

assets/<week>/figures.json says what each figure shows (titles, labels, numbers, not pixels) and
which sources it was drawn from. `build --check` compares files and sources with it, and draws a
week again only if its sources have changed. What then differs is named.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...model.course.loader import Course, Week
from ...model.errors import BuildError
from .figure_content import Shown, differences, shown_of

RECORD = "figures.json"
_DPI = 110
_STYLE = "figures.mplstyle"
_SOURCES = ("*.py", "*.csv")
# In SVG, the reader's browser knows whether dark pages are preferred. Everything is turned round
# at once, so that greys keep their order.
_DARK = (
    "<style>@media (prefers-color-scheme: dark){svg{filter:invert(.93) hue-rotate(180deg)}}</style>"
)


def draw_figures(course: Course, week: Week) -> list[Path]:
    """Write assets/<week>/ anew: every figure that the week's figures.py makes, and the record."""
    figures = make_figures(course, week)
    if not figures:
        return []
    folder = course.figures(week)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.png"), *folder.glob("*.svg")):
        old.unlink()
    told, written = {}, []
    for stem, figure in figures.items():
        name, content = _file(stem, figure, course)
        (folder / name).write_bytes(content)
        told[stem] = {"file": name, "hash": _digest(content), "shows": shown_of(figure)}
        written.append(folder / name)
    record = {"sources": sources_digest(course, week), "figures": told}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).replace("},", "},\n")
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
    return written


def stale_figures(course: Course, week: Week, *, redraw: bool = False) -> Iterator[str]:
    """What is not as figures.py draws it, one line each. `redraw`: also if no source changed."""
    if not _source(course, week).is_file():
        return
    folder = course.figures(week)
    where = folder.relative_to(course.root)
    remedy = "run `autograder build --figures`"
    record = read_record(course, week)
    if record is None:
        yield f"{where}/{RECORD} is missing: {remedy}"
        return
    for told in record["figures"].values():
        path = folder / told["file"]
        if not path.is_file():
            yield f"{where}/{told['file']} is missing: {remedy}"
        elif _digest(path.read_bytes()) != told["hash"]:
            yield f"{where}/{told['file']} is not the file that was drawn: {remedy}"
    if redraw or record["sources"] != sources_digest(course, week):
        drawn = {stem: shown_of(figure) for stem, figure in make_figures(course, week).items()}
        recorded = {stem: told["shows"] for stem, told in record["figures"].items()}
        for problem in _compared(recorded, drawn, _trained(course, week)):
            yield f"{where}/{problem}: {remedy}"


def _compared(
    recorded: Mapping[str, Shown], drawn: Mapping[str, Shown], trained: frozenset[str]
) -> Iterator[str]:
    for stem in sorted(recorded.keys() - drawn.keys()):
        yield f"{stem} is no longer drawn"
    for stem in sorted(drawn.keys() - recorded.keys()):
        yield f"{stem} was not drawn yet"
    for stem in sorted(drawn.keys() & recorded.keys()):
        found = differences(recorded[stem], drawn[stem], numbers=stem not in trained)
        if found:
            yield f"{stem} shows something else now: {found[0]}"


def read_record(course: Course, week: Week) -> dict[str, Any] | None:
    """What assets/<week>/figures.json says; None if it is missing."""
    path = course.figures(week) / RECORD
    if not path.is_file():
        return None
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def sources_digest(course: Course, week: Week) -> str:
    """A digest of all that a week's figures are drawn from."""
    folder = course.solution_folder(week)
    paths = [
        p for pattern in _SOURCES for p in (*folder.glob(pattern), *folder.parent.glob(pattern))
    ]
    paths += [course.root / "assets" / name for name in (*week.files, _STYLE)]
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(p for p in paths if p.is_file()):
        digest.update(path.relative_to(course.root).as_posix().encode() + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def make_figures(course: Course, week: Week) -> dict[str, Any]:
    """The figures of a week by their names; none if it has no figures.py."""
    source = _source(course, week)
    if not source.is_file():
        return {}
    import matplotlib

    matplotlib.use("Agg")
    import torch
    from matplotlib import pyplot

    torch.manual_seed(0)
    with _drawn_in(course), _importable(source.parent):
        module = _load(source)
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
            figure.draw_without_rendering()  # a layout that is solved does not move any more
    return figures


def _source(course: Course, week: Week) -> Path:
    return course.solution_folder(week) / "figures.py"


def _trained(course: Course, week: Week) -> frozenset[str]:
    """Figures whose numbers come from training, which goes another way on another processor."""
    for line in _source(course, week).read_text(encoding="utf-8").split("\n"):
        if line.startswith("TRAINED = "):
            return frozenset(name.strip("\"' ") for name in line[11:-1].split(","))
    return frozenset()


def _file(stem: str, figure: Any, course: Course) -> tuple[str, bytes]:
    """A figure's file name and content: the same figure is the same file, wherever it is drawn."""
    buffer = io.BytesIO()
    lines_only = not any(axes.images for axes in figure.axes)
    kind = "svg" if lines_only else "png"
    # No metadata: nothing of this machine or day is in it.
    metadata = {"Date": None, "Creator": None} if lines_only else {"Software": None}
    with _drawn_in(course):
        figure.savefig(buffer, format=kind, dpi=_DPI, bbox_inches="tight", metadata=metadata)
    content = buffer.getvalue()
    if lines_only:
        content = content.replace(b"<defs>", _DARK.encode() + b"<defs>", 1)
    return f"{stem}.{kind}", content


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


@contextmanager
def _drawn_in(course: Course) -> Iterator[None]:
    """In the course's style, if it has one."""
    import matplotlib

    style = course.root / "assets" / _STYLE
    with matplotlib.rc_context(fname=style if style.is_file() else None):
        yield


def _load(source: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"figures_{source.parent.name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Import from a week's folder and the one above it; forget their modules afterwards."""
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
