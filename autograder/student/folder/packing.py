"""Handing in a week: which of its files count, and where they go.

Two doors: a service of the course (`service.py`), or nbgrader's exchange, where the real
`nbgrader submit` carries a folder that holds just these files.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from ...model.errors import KitError
from ...model.submission_zip import digest_of
from .reset import KEPT
from .week import WeekFolder

RECEIPTS = "RECEIPTS.md"
_SUFFIXES = (".py", ".txt", ".json", ".csv", ".npy")
_HANDED_OUT = ("figures", KEPT, "feedback", "__pycache__")
_MOST = 64 << 20
_SETTINGS = "nbgrader_config.py"
_LOG = re.compile(r"^\[\w+ \| [A-Z]+\] ")
_DONE = re.compile(r"Submitted as: (\S+) (\S+) (.+)")


class HandIn(msgspec.Struct, frozen=True):
    """What is handed in: the files that count, by name, and what is to be said about them."""

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.files)


def pack(folder: WeekFolder) -> HandIn:
    """The module, the notebook, and what else the student's code may need; raises KitError."""
    copies = folder.copies()
    if not folder.module.is_file():
        found = f"; there is {copies[0].name}: rename it" if copies else ""
        raise KitError(f"there is no {folder.module.name} in {folder.path.name}{found}")
    files: dict[str, bytes] = {}
    for path in sorted(folder.path.rglob("*")):
        name = path.relative_to(folder.path).as_posix()
        if path not in copies and path.is_file() and _counts(folder, name):
            files[name] = path.read_bytes()
    if sum(map(len, files.values())) > _MOST:
        largest = max(files, key=lambda name: len(files[name]))
        raise KitError(f"the folder holds more than {_MOST >> 20} MiB: move {largest} out of it")
    notes = [
        f"{copy.name} is newer than {folder.module.name}, which is submitted"
        for copy in folder.newer_copies()
    ]
    if f"{folder.week.week}.ipynb" not in files and folder.week.questions:
        notes.append(f"there is no {folder.week.week}.ipynb: it adds no written answer")
    return HandIn(files, tuple(notes))


def _counts(folder: WeekFolder, name: str) -> bool:
    parts = name.split("/")
    if any(p.startswith(".") or p in _HANDED_OUT for p in parts):
        return False
    if name in (f"test_{folder.stem}.py", _SETTINGS):
        return False
    return name == f"{folder.week.week}.ipynb" or name.endswith(_SUFFIXES)


def to_exchange(folder: WeekFolder, parcel: HandIn) -> str:
    """Hand in by nbgrader; when, as it says. Raises KitError."""
    program = shutil.which("nbgrader", path=str(Path(sys.executable).parent)) or shutil.which(
        "nbgrader"
    )
    if program is None:
        raise KitError(
            "there is nowhere to submit: name your course's service with --to https://…, or "
            "install nbgrader for its exchange"
        )
    name = folder.path.name if folder.path.name.startswith(folder.week.week) else folder.week.week
    with tempfile.TemporaryDirectory(prefix="autograder-submit-") as stage:
        for relative, data in parcel.files.items():
            path = Path(stage) / name / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        settings = _settings(folder)
        if settings:
            shutil.copy(settings, stage)
        course = ["--course", folder.week.course] if folder.week.course else []
        done = subprocess.run(
            [program, "submit", name, *course],
            cwd=stage,
            capture_output=True,
            text=True,
            check=False,
        )
    said = _DONE.search(done.stdout + done.stderr)
    if done.returncode or said is None:
        why = reason_of(done.stderr or done.stdout)
        if settings is None:
            why += f". Should there be a {_SETTINGS} in the week's folder, or in the one above?"
        raise KitError(f"nbgrader submit took nothing: {why}")
    return said.group(3).strip()


def _settings(folder: WeekFolder) -> Path | None:
    """The student's settings of nbgrader, which it would find where they type its commands."""
    for place in (folder.path, folder.path.parent):
        path = place / _SETTINGS
        if path.is_file() and (not hasattr(os, "geteuid") or path.stat().st_uid == os.geteuid()):
            return path
    return None


def reason_of(said: str) -> str:
    """Why nbgrader failed: the last line it wrote that says more than that it did."""
    lines = [_LOG.sub("", line).strip() for line in said.splitlines()]
    lines = [line for line in lines if line and line != "nbgrader submit failed"]
    return lines[-1] if lines else "it gave no reason"


def keep_receipt(folder: WeekFolder, line: str) -> None:
    """Note a receipt in the week's folder; it is never handed in."""
    path = folder.path / RECEIPTS
    head = "" if path.exists() else "# Your submissions\n\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{head}- {dt.datetime.now():%Y-%m-%d %H:%M:%S}: {line}\n")
