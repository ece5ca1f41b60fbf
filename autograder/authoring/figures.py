"""The lessons' figures, drawn from the solutions into assets/ by one command."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..model.course import Course, Week
from ..model.errors import BuildError

_DPI = 110


def draw_figures(course: Course, week: Week) -> list[Path]:
    """Write assets/<week>/<stem>.png for every figure that the week's figures.py makes."""
    source = course.solution_folder(week) / "figures.py"
    if not source.is_file():
        return []
    import matplotlib

    matplotlib.use("Agg")
    import torch

    torch.manual_seed(0)
    with _importable(source.parent):
        module = _load(source)
        try:
            figures: dict[str, Any] = module.figures()
        except Exception as error:
            where = source.relative_to(course.root)
            raise BuildError(
                f"{where}: figures() raised {type(error).__name__}: {error}"
            ) from error
    folder = course.figures(week)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, figure in figures.items():
        path = folder / f"{stem}.png"
        # No metadata: the same figure is the same file, and nothing of this machine is in it.
        figure.savefig(path, dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
        written.append(path)
    return written


def _load(source: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"figures_{source.parent.name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """The solution's folder on the import path, and its modules forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if origin.startswith(str(folder)):
                del sys.modules[name]
