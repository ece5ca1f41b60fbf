"""`autograder doctor` on a terminal."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
import stat
import sys
from pathlib import Path

from rich.console import Console

from ....model.course.loader import REGISTRY, Course, load
from ....model.device_axes import AXES, FAKE_GPU, axis
from ....model.errors import CourseError, NoCourse
from ....sandbox import probe
from ....terminal.console import terminal
from ....version import __version__


def run_doctor() -> bool:
    """Print what was found; return whether grading can run here."""
    console = terminal(soft_wrap=True)
    console.print(f"autograder {__version__}, Python {sys.version.split()[0]}")
    fine = True
    try:
        course = load()
        console.print(f"  ok   course.yaml: {course.title}, {len(course.weeks)} weeks")
        _print_privacy(console, course)
    except NoCourse:  # as for a student
        console.print(f"  --   {REGISTRY}: none here or above")
    except CourseError as error:
        console.print(f"  --   {error}")
        fine = False
    for package in ("torch", "numpy", "nbgrader", "jupyterlab"):
        found = importlib.util.find_spec(package) is not None
        version = importlib.metadata.version(package) if found else "missing"
        console.print(f"  {'ok' if found else '--'}   {package} {version}")
    missing = ", ".join(a.what for a in AXES.values() if not a.here())
    devices = ", ".join(axis()) + (f" ({missing})" if missing else "")
    console.print(f"  {'--' if FAKE_GPU in axis() else 'ok'}   devices of the tests: {devices}")
    for finding in probe():
        mark = "ok" if finding.ok else "--"
        console.print(f"  {mark}   {finding.name}: {finding.detail}")
        if not finding.ok and finding.remedy:
            console.print(f"       {finding.remedy}")
        if finding.name == "sandbox" and not finding.ok:
            fine = False
    return fine


def _print_privacy(console: Console, course: Course) -> None:
    """Solutions and hidden tests lie in the project; so does the gradebook, if it is a file."""
    open_to_others = others_can_read(course.root / "solutions")
    if open_to_others is None:
        return
    if open_to_others:
        console.print("  --   project: other users of this machine can read the solutions")
        console.print(f"       chmod 700 {shlex.quote(str(course.root))}")
    else:
        console.print("  ok   project: other users of this machine cannot read the solutions")


def others_can_read(folder: Path) -> bool | None:
    """Whether any user could list a folder: it and all above it let them. None: no such folder."""
    if not folder.is_dir():
        return None
    path = folder.resolve()
    passable = all(above.stat().st_mode & stat.S_IXOTH for above in path.parents)
    return passable and bool(path.stat().st_mode & stat.S_IROTH)
