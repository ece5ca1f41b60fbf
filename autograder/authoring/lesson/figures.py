"""Draw the figures of lessons into assets/, and check that they are up to date.

`figures.py` in a week's solution folder returns matplotlib figures by name. Line art is written as
SVG, figures with images as PNG, all in the style assets/figures.mplstyle. SVGs follow the reader's
preference for dark pages; PNGs keep a white background.

assets/<week>/figures.json records a digest of each figure and a digest of all sources. `build
--check` compares the current files and sources with this record.
"""

import contextlib
import hashlib
import importlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...files import read_state
from ...model.course import Course, Week
from ...model.errors import BuildError

RECORD = "figures.json"
_DPI = 110
_STYLE = "figures.mplstyle"
_SOURCES = ("*.py", "*.csv")
# The SVG contains a media query, because only the reader's browser knows the preference. Inverting
# all colours preserves the contrast between shades of grey.
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
        name, content = picture(stem, figure, course)
        (folder / name).write_bytes(content)
        entries[stem] = {"file": name, "hash": _digest(content)}
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
    """Return the content of assets/<week>/figures.json, or None if it cannot be read."""
    return read_state(course.figures(week) / RECORD, dict[str, Any])


def sources_digest(course: Course, week: Week) -> str:
    """Return a digest of every file that a week's figures depend on, such as files they name."""
    folder = course.solution_folder(week)
    paths = [p for kind in _SOURCES for p in (*folder.glob(kind), *folder.parent.glob(kind))]
    programs = b"".join(path.read_bytes() for path in paths)
    named = (name for name in week.files if Path(name).name.encode() in programs)
    paths += [course.root / "assets" / name for name in (*named, _STYLE)]
    digest = hashlib.blake2b(digest_size=16)
    # figures do not depend on trivial.py, which contains trivial programs for `verify`
    for path in sorted(p for p in paths if p.is_file() and p.name != "trivial.py"):
        digest.update(path.relative_to(course.root).as_posix().encode() + b"\0")
        digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def make_figures(
    course: Course, week: Week, prepare: Callable[[Any], None] = lambda module: None
) -> dict[str, Any]:
    """Return a week's matplotlib figures by name, or {} if the week has no figures.py.

    prepare: called with the imported module figures.py before the figures are drawn
    """
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
        prepare(module)
        try:
            figures: dict[str, Any] = module.figures()
        except Exception as error:
            where = source.relative_to(course.root)
            raise BuildError(f"{where}: figures() raised {error!r}") from error
        finally:
            pyplot.close("all")
        for figure in figures.values():
            figure.draw_without_rendering()  # completes the layout
    return figures


def _source(course: Course, week: Week) -> Path:
    return course.solution_folder(week) / "figures.py"


def picture(stem: str, figure: Any, course: Course) -> tuple[str, bytes]:
    """Return a figure's file name and reproducible content, without date or software metadata."""
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
