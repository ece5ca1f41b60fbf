"""`autograder doctor`: report whether sandbox, devices and packages work here."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shlex
import stat
import sys
from pathlib import Path

from rich.console import Console

from ...model.course import REGISTRY, Course, load
from ...model.device_axes import AXES, FAKE_GPU, axis
from ...model.errors import CourseError, NoCourse
from ...sandbox import probe
from ...terminal.console import terminal
from ...version import __version__


def run_doctor() -> bool:
    """Print the findings; return whether grading can run here."""
    console = terminal(soft_wrap=True)
    console.print(f"autograder {__version__}, Python {sys.version.split()[0]}")
    can_grade = True
    try:
        course = load()
        console.print(f"  ok   course.yaml: {course.title}, {len(course.weeks)} weeks")
        _print_privacy(console, course)
    except NoCourse:  # as on a student's machine
        console.print(f"  --   {REGISTRY}: not in this folder or those above")
    except CourseError as error:
        console.print(f"  --   {error}")
        can_grade = False
    for package in ("torch", "numpy", "nbgrader", "jupyterlab"):
        found = importlib.util.find_spec(package) is not None
        version = importlib.metadata.version(package) if found else "missing"
        console.print(f"  {'ok' if found else '--'}   {package} {version}")
    missing = ", ".join(a.missing for a in AXES.values() if not a.is_available())
    devices = ", ".join(axis()) + (f" ({missing})" if missing else "")
    console.print(f"  {'--' if FAKE_GPU in axis() else 'ok'}   devices of the tests: {devices}")
    for finding in probe():
        console.print(f"  {'ok' if finding.ok else '--'}   {finding.name}: {finding.detail}")
        if not finding.ok and finding.remedy:
            console.print(f"       {finding.remedy}")
        if finding.name == "sandbox" and not finding.ok:
            can_grade = False
    return can_grade


def _print_privacy(console: Console, course: Course) -> None:
    """Report whether other users can read solutions, hidden tests and the gradebook."""
    readable = readable_by_others(course.root / "solutions")
    if readable:
        console.print("  --   project: other users of this machine can read the solutions")
        console.print(f"       chmod 700 {shlex.quote(str(course.root))}")
    elif readable is not None:
        console.print("  ok   project: other users of this machine cannot read the solutions")


def readable_by_others(folder: Path) -> bool | None:
    """Return whether any user can list the folder, or None if it does not exist."""
    if not folder.is_dir():
        return None
    path = folder.resolve()
    passable = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
    return passable and bool(path.stat().st_mode & stat.S_IROTH)
