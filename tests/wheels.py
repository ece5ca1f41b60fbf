"""Build the two wheels like `make wheel`, without a network, from a copy of the sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.courses import PROJECT

_SOURCES = ("autograder", "pyproject.toml", "setup.py", "LICENSE")
_OPTIONS = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "-w", "dist", ".")


def build_wheels(copy: Path) -> tuple[Path, Path]:
    """Build the students' wheel, then the kit's wheel, which contains it; return their paths."""
    copy.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name in _SOURCES:
        if (PROJECT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / name, copy / name, ignore=ignored)
        else:
            shutil.copy(PROJECT / name, copy / name)
    for student in ("1", ""):
        command = [sys.executable, "-m", "pip", "wheel", *_OPTIONS]
        environment = os.environ | {"GRADEWRIGHT_STUDENT": student}
        subprocess.run(command, cwd=copy, env=environment, check=True)
        shutil.rmtree(copy / "build")
    (student_wheel,) = (copy / "dist").glob("gradewright_student-*.whl")
    (kit_wheel,) = (copy / "dist").glob("gradewright-*.whl")
    return student_wheel, kit_wheel
