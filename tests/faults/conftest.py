"""A class that hands in, and the command line as a user runs it, to be killed and starved."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from autograder.sandbox import SandboxMissing, choose

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CLASS = 10


@pytest.fixture(autouse=True, scope="session")
def _sandbox() -> None:
    try:
        choose("bubblewrap")
    except SandboxMissing as error:
        pytest.skip(str(error))


class Classroom:
    """A small course, a class of submissions that all differ, and `grade` on them."""

    def __init__(self, folder: Path) -> None:
        self.course = folder / "course"
        ignored = shutil.ignore_patterns("__pycache__", ".autograder")
        shutil.copytree(GOLDEN / "course", self.course, ignore=ignored)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.report = folder / "report.json"
        self.faulty = False
        self.paths = []
        kinds = ("solution", "ignores_dim", "misses_scale", "stub", "uses_torch_softmax")
        for number in range(CLASS):
            source = (GOLDEN / "submissions" / kinds[number % 5] / "tiny.py").read_text("utf-8")
            path = folder / "class" / f"student{number:02}"
            path.mkdir(parents=True)
            (path / "tiny.py").write_text(f"{source}\n# {number}\n", encoding="utf-8")
            self.paths.append(path)

    def start(self, *options: str, **environment: str) -> subprocess.Popen[str]:
        """`autograder grade` on the whole class."""
        command = [str(Path(sys.executable).parent / "autograder"), "grade", "1"]
        command += [*map(str, self.paths), "--device", "cpu", "--json", str(self.report), *options]
        own = {"NO_COLOR": "1", "OMP_NUM_THREADS": "1", "TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            command,
            cwd=self.course,
            env=os.environ | own | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def grade(self, *options: str, **environment: str) -> tuple[int, str]:
        """Return the exit code and standard error."""
        process = self.start(*options, **environment)
        _, errors = process.communicate(timeout=300)
        return process.returncode, errors

    def scores(self) -> dict[str, tuple[str, float]]:
        """Return name -> verdict and score from the report on disk."""
        found = json.loads(self.report.read_text(encoding="utf-8"))["submissions"]
        names = [s["name"] for s in found]
        assert len(names) == len(set(names)), "a submission is reported twice"
        faults = [s["message"] for s in found if s["verdict"] == "grader_fault"]
        assert not faults or self.faulty, faults[0]
        return {s["name"]: (s["verdict"], s["score"]) for s in found}

    def stored(self) -> list[dict[str, Any]]:
        """Every result in the store."""
        folder = self.course / ".autograder" / "results"
        return [json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*/*/*.json")]


EXPECTED = {f"student{n:02}": ("graded", (5.0, 4.1, 3.0, 0.0, 2.0)[n % 5]) for n in range(CLASS)}


@pytest.fixture
def classroom(tmp_path: Path) -> Classroom:
    return Classroom(tmp_path)


@pytest.fixture
def right() -> dict[str, tuple[str, float]]:
    """Return the expected scores of the class."""
    return EXPECTED


@pytest.fixture
def alive() -> Callable[[list[psutil.Process]], list[psutil.Process]]:
    """Return the processes that are alive after ten seconds."""
    return lambda processes: psutil.wait_procs(processes, timeout=10)[1]
