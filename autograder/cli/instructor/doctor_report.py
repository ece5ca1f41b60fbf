"""`doctor`: report whether sandbox, devices and packages work here."""

from __future__ import annotations

import importlib.metadata
import shlex
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from ...model.availability import AXES, FAKE_GPU, axis
from ...model.course import REGISTRY, Course, load
from ...model.errors import CourseError, NoCourse
from ...version import __version__
from ..app import instructor_command
from ..output import print_checks


@instructor_command
def doctor() -> bool:
    """Report whether sandbox, devices and nbgrader work here, and how to fix problems.

    Example: autograder doctor
    """
    from ...sandbox import probe

    print(f"autograder {__version__}, Python {sys.version.split()[0]}")
    can_grade = True
    try:
        course = load()
        print_checks([(True, f"course.yaml: {course.title}, {len(course.weeks)} weeks", "")])
        print_checks(_privacy(course))
    except NoCourse:  # for example on a student's machine
        print_checks([(False, f"{REGISTRY}: not in this folder or those above", "")])
    except CourseError as error:
        print_checks([(False, str(error), "")])
        can_grade = False
    print_checks(map(_package, ("torch", "numpy", "nbgrader", "jupyterlab")))
    missing = ", ".join(a.missing for a in AXES.values() if not a.is_available())
    devices = ", ".join(axis()) + (f" ({missing})" if missing else "")
    print_checks([(FAKE_GPU not in axis(), f"devices of the tests: {devices}", "")])
    findings = probe()
    print_checks((f.ok, f"{f.name}: {f.detail}", f.remedy) for f in findings)
    return can_grade and all(f.ok for f in findings if f.name == "sandbox")


def _package(name: str) -> tuple[bool, str, str]:
    try:
        return True, f"{name} {importlib.metadata.version(name)}", ""
    except importlib.metadata.PackageNotFoundError:
        return False, f"{name} missing", ""


def _privacy(course: Course) -> Iterator[tuple[bool, str, str]]:
    """Check whether other users can read solutions, hidden tests and the gradebook."""
    readable = readable_by_others(course.root / "solutions")
    if readable is not None:
        can = "can" if readable else "cannot"
        remedy = f"chmod 700 {shlex.quote(str(course.root))}"
        yield not readable, f"project: other users of this machine {can} read the solutions", remedy


def readable_by_others(folder: Path) -> bool | None:
    """Return True if any user can list the folder, or None if it does not exist."""
    if not folder.is_dir():
        return None
    path = folder.resolve()
    passable = all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents)
    return passable and bool(path.stat().st_mode & stat.S_IROTH)
