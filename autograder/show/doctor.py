"""`autograder doctor` on a terminal."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys

from rich.console import Console

from .. import __version__
from ..course import load
from ..errors import CourseError
from ..sandbox import probe


def run_doctor() -> bool:
    """Print what was found; whether hidden grading can run here."""
    console = Console(soft_wrap=True)
    console.print(f"autograder {__version__}, Python {sys.version.split()[0]}")
    fine = True
    try:
        course = load()
        console.print(f"  ok   course.yaml: {course.title}, {len(course.weeks)} weeks")
    except CourseError as error:
        console.print(f"  --   {error}", markup=False)
    for package in ("torch", "numpy", "nbgrader", "jupyterlab"):
        found = importlib.util.find_spec(package) is not None
        version = importlib.metadata.version(package) if found else "missing"
        console.print(f"  {'ok' if found else '--'}   {package} {version}")
    console.print(
        f"  {'ok' if _cuda() else '--'}   CUDA device{'' if _cuda() else ': none, so fake-gpu'}"
    )
    for finding in probe():
        mark = "ok" if finding.ok else "--"
        console.print(f"  {mark}   {finding.name}: {finding.detail}", markup=False)
        if not finding.ok and finding.remedy:
            console.print(f"       {finding.remedy}", markup=False)
        if finding.name == "sandbox" and not finding.ok:
            fine = False
    return fine


def _cuda() -> bool:
    return shutil.which("nvidia-smi") is not None
