"""Test that exercises of a missing extra are skipped with an installation hint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.lesson.handout import week_files
from autograder.model.course import load

PROJECT = Path(__file__).resolve().parents[2]
# Makes triton unavailable to a Python process and its children.
WITHOUT = """
import importlib.metadata, importlib.util, sys
find, version = importlib.util.find_spec, importlib.metadata.version
def no_version(name):
    if name == "triton":
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = no_version
def without(name, package=None):
    return None if name.partition(".")[0] == "triton" else find(name, package)
importlib.util.find_spec = without
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "triton":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nowhere())
"""


def run_without(folder: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a Python without the extra."""
    (folder / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{PROJECT}"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.thorough
def test_verify_says_not_run_and_finds_no_gap(tmp_path: Path) -> None:
    done = run_without(tmp_path, "verify", "week09", "--quick", "--draws", "1", cwd=PROJECT)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "not_run: exercises of week09_kernels need the extra 'triton'" in said
    assert "pip install triton" in said
    assert "0 misconceptions: 0 gaps" in said


def test_a_student_without_it_is_told_what_to_install(tmp_path: Path) -> None:
    course = load(PROJECT)
    week = tmp_path / "week"
    for name, content in week_files(course, course.week("week09")).items():
        (week / name).parent.mkdir(parents=True, exist_ok=True)
        (week / name).write_bytes(content)
    done = run_without(tmp_path, "check", "softmax_rows", cwd=week)
    assert "softmax_rows  cannot run here" in done.stdout, done.stdout + done.stderr
    assert "Not checked here: triton is not installed: on Linux, pip install triton." in done.stdout
    assert done.stderr == ""
