"""Test the kit in fresh environments: Python 3.11 to 3.14 and available versions of torch.

    python tests/matrix/run.py                       # every Python that is found, without torch
    python tests/matrix/run.py --torch 2.4.1 2.13.0  # and with these (torch's CPU builds)
    python tests/matrix/run.py --torch system        # with the torch that a Python has (Debian's)

Each environment gets the students' wheel as students install it, plays a week with it (a stub that
is open, a solution that passes, a hint, progress), and then runs the tests that need no more than
what is installed there. An unavailable environment is reported with the reason, never as a pass.
With torch the project's own tests of torch code run too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEM = "system"  # the torch of the environment's base interpreter
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
# Tests that do not import torch, and their additional requirements.
PLAIN = (
    "tests/student/test_week.py",
    "tests/student/test_source.py",
    "tests/student/test_solution.py",
    "tests/student/test_platforms.py",
    "tests/unit/test_course.py",
    "tests/unit/test_source_rules.py",
)
WITH_TORCH = ("tests/student/test_check.py",)
# Grading supports the torch of constraints.txt; newer versions are tested, older ones not promised.
GRADING = ("tests/unit/test_vocabulary.py",)
FOR_TESTS = ("pytest", "hypothesis", "nbformat")
WEEK = """
import msgspec
from pathlib import Path
from autograder.student.folder.week import WeekExercise, WeekFile
import datetime as dt
STUB = 'def double(x):\\n    raise NotImplementedError("double")\\n'
week = WeekFile(week="week01_tiny", title="Tiny", module="tiny.py",
    due=dt.datetime(2027, 1, 18, tzinfo=dt.UTC), exercises=(WeekExercise("double", 2),), stub=STUB)
Path("week.json").write_bytes(msgspec.json.encode(week))
Path("tiny.py").write_text(STUB, encoding="utf-8")
Path("hints.md").write_text("# Hints\\n\\n## double\\n1. A sum.\\n", encoding="utf-8")
Path("test_tiny.py").write_text(
    "def test_double_three():\\n    from tiny import double\\n\\n    assert double(3) == 6\\n")
"""


class NotHad(Exception):
    """A requirement of an environment is not available."""


@dataclass(frozen=True)
class Environment:
    """A Python of one version, with one version of torch or none."""

    python: str
    torch: str


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--python", nargs="*", default=list(PYTHONS))
    arguments.add_argument("--torch", nargs="*", default=["none"])
    arguments.add_argument("--keep", type=Path, help="a folder for the environments")
    given = arguments.parse_args()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory(prefix="autograder-matrix-") as temporary:
        place = given.keep or Path(temporary)
        wheel = built(place)
        for python in given.python:
            for torch in given.torch:
                environment = Environment(python, torch)
                try:
                    said = played(environment, wheel, place)
                except NotHad as error:
                    said = f"not tried: {error}"
                except subprocess.CalledProcessError as error:
                    bad, said = bad + 1, f"FAILED: {last_line(error)}"
                rows.append(f"Python {python}, torch {torch}: {said}")
                print(rows[-1], flush=True)
    return 1 if bad or all("not tried" in row for row in rows) else 0


def built(place: Path) -> Path:
    """The students' wheel, from a copy of the sources."""
    copy = place / "sources"
    for name in ("autograder", "pyproject.toml", "setup.py", "LICENSE", "constraints.txt"):
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, copy / name, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy(source, copy / name)
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(place / "dist"), "."]
    os.environ["GRADEWRIGHT_STUDENT"] = "1"  # see setup.py
    run([sys.executable, "-m", "pip", "wheel", *options], copy)
    return next((place / "dist").glob("gradewright_student-*.whl"))


def played(environment: Environment, wheel: Path, place: Path) -> str:
    """Install, complete a week, run the tests, and return the results."""
    python = fresh(environment, place)
    version = output([python, "-c", "import platform; print(platform.python_version())"], place)
    install(python, environment, wheel, place)
    week = place / f"week-{environment.python}-{environment.torch}"
    week.mkdir()
    play(python, week)
    ran, torch = [*PLAIN], ""
    if environment.torch != "none":
        there = torch_of(python, place)
        ran += WITH_TORCH
        ran += GRADING if numbers(there) >= numbers(_pinned()) else ()
        torch = f", torch {there}" + (" (grading too)" if ran[-1] in GRADING else "")
    said = output([python, "-m", "pytest", "-q", *ran], ROOT).strip().split("\n")[-1]
    return f"a week played with {version.strip()}{torch}; {said}"


def fresh(environment: Environment, place: Path) -> str:
    """A new virtual environment; raises NotHad if there is no such Python."""
    folder = place / f"py{environment.python}-{environment.torch}"
    found = next(interpreters(environment.python), None)
    if found is None:
        raise NotHad(f"no Python {environment.python} here, and uv cannot fetch one")
    own = ["--system-site-packages"] if environment.torch == SYSTEM else []
    run([found, "-m", "venv", *own, str(folder)], place)
    return str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")


def interpreters(version: str) -> Iterator[str]:
    """Pythons of this version: on the path, under pyenv, or fetched by uv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    beside = sorted(str(p / "bin" / "python") for p in pyenv.glob(f"{version}.*"))
    candidates = [sys.executable, shutil.which(f"python{version}"), *beside]
    for candidate in filter(None, candidates):
        asked = [
            candidate,
            "-c",
            "import sys, venv, ensurepip; print(*sys.version_info[:2], sep='.')",
        ]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            yield candidate
    if uv := shutil.which("uv"):
        subprocess.run([uv, "python", "install", version], capture_output=True, check=False)
        done = subprocess.run([uv, "python", "find", version], capture_output=True, text=True,
                              check=False)  # fmt: skip
        if done.returncode == 0:
            yield done.stdout.strip()


def install(python: str, environment: Environment, wheel: Path, place: Path) -> None:
    """The wheel with its libraries; torch as a CPU build, or everything but torch."""
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if environment.torch in ("none", SYSTEM):
        if environment.torch == SYSTEM and not has_torch(python, place):
            raise NotHad(f"this Python {environment.python} has no torch")
        needed = re.findall(r'^    "([A-Za-z0-9-]+)[^"]*",$', _dependencies(), flags=re.MULTILINE)
        run([*pip, *needed, *FOR_TESTS], place)
        run([*pip, "--no-deps", str(wheel)], place)
        return
    wanted = "torch" if environment.torch == "newest" else f"torch=={environment.torch}"
    try:
        run([*pip, wanted, "--index-url", CPU_BUILDS], place)
    except subprocess.CalledProcessError:
        raise NotHad(f"no CPU build of {wanted} could be fetched from {CPU_BUILDS}") from None
    run([*pip, str(wheel), *FOR_TESTS], place)


def numbers(version: str) -> tuple[int, ...]:
    """2.13.0+cpu is (2, 13, 0)."""
    return tuple(int(n) for n in re.findall(r"\d+", version.partition("+")[0]))


def _pinned() -> str:
    """The torch of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n")
    return next(line.partition("==")[2] for line in lines if line.startswith("torch=="))


def _dependencies() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return text[text.index("dependencies = [") : text.index("[project.optional-dependencies]")]


def play(python: str, week: Path) -> None:
    """A student's first minutes: an open week, a hint, a solution that passes."""
    run([python, "-c", WEEK], week)
    kit = [python, "-m", "autograder"]
    expect([*kit, "check"], week, 1)
    expect([*kit, "hint", "double"], week, 0)
    (week / "tiny.py").write_text("def double(x):\n    return x + x\n", encoding="utf-8")
    expect([*kit, "check"], week, 0)
    expect([*kit, "progress"], week, 0)
    expect([*kit, "reset", "double"], week, 0)


def expect(command: list[str], where: Path, code: int) -> None:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise subprocess.CalledProcessError(
            done.returncode, command, done.stdout, f"{done.stderr}\nexpected exit code {code}"
        )


def has_torch(python: str, place: Path) -> bool:
    asked = [python, "-c", "import torch"]
    return subprocess.run(asked, cwd=place, capture_output=True, check=False).returncode == 0


def torch_of(python: str, place: Path) -> str:
    return output([python, "-c", "import torch; print(torch.__version__)"], place).strip()


def output(command: list[str], where: Path) -> str:
    return run(command, where).stdout


def run(command: list[str], where: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=True)


def last_line(error: subprocess.CalledProcessError) -> str:
    said = [*(error.stdout or "").strip().split("\n"), *(error.stderr or "").strip().split("\n")]
    return " | ".join(line for line in said if line.strip())[-600:]


if __name__ == "__main__":
    sys.exit(main())
