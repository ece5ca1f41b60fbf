"""Collect the files of a submission, and submit them through nbgrader's exchange.

The course's service receives the same files (commands/service_client.py). To submit through the
exchange, `nbgrader submit` runs on a temporary folder that contains only these files.
"""

import contextlib
import datetime as dt
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from ...files import write_files
from ...model.errors import KitError
from ...model.submission_files import digest_of
from .source import BACKUPS
from .week import WeekFolder

RECEIPTS = "RECEIPTS.md"
_SUFFIXES = (".py", ".txt", ".json", ".csv", ".npy")
_SKIPPED_FOLDERS = ("figures", BACKUPS, "feedback", "__pycache__")
_MAX_BYTES = 64 << 20
_SETTINGS = "nbgrader_config.py"
EXCHANGE = "/usr/local/share/nbgrader/exchange"  # nbgrader's default
_LOG = re.compile(r"^\[\w+ \| [A-Z]+\] ")
_DONE = re.compile(r"Submitted as: (\S+) (\S+) (.+)")


class SubmissionFiles(msgspec.Struct, frozen=True):
    """The files of a submission, as names mapped to contents, and notes for the student."""

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.files)


def pack(folder: WeekFolder) -> SubmissionFiles:
    """Collect the module, the notebook, and the other Python and data files of a week.

    Raise KitError if the module is missing or the files are too large.
    """
    module, copies = folder.module.name, folder.copies()
    if not folder.module.is_file():
        folder.source()  # raises KitError with a remedy
    files: dict[str, bytes] = {}
    for path in sorted(folder.path.rglob("*")):
        name = path.relative_to(folder.path).as_posix()
        if path not in copies and path.is_file() and _is_submitted(folder, name):
            files[name] = path.read_bytes()
    if sum(map(len, files.values())) > _MAX_BYTES:
        largest = max(files, key=lambda name: len(files[name]))
        raise KitError(f"the files exceed {_MAX_BYTES >> 20} MiB: move {largest} out of the folder")
    notes = [f"{c.name} is newer than {module}, which is submitted" for c in folder.newer_copies()]
    notebook = f"{folder.week.week}.ipynb"
    if notebook not in files and folder.week.questions:
        notes.append(f"there is no {notebook}: this submission adds no written answers")
    return SubmissionFiles(files, tuple(notes))


def _is_submitted(folder: WeekFolder, name: str) -> bool:
    if any(p.startswith(".") or p in _SKIPPED_FOLDERS for p in name.split("/")):
        return False
    if name in (f"test_{folder.stem}.py", _SETTINGS):
        return False
    return name == f"{folder.week.week}.ipynb" or name.endswith(_SUFFIXES)


def exchange_program(folder: WeekFolder) -> str:
    """Return the path of nbgrader; raise KitError if it is missing or finds no exchange."""
    next_to_python = str(Path(sys.executable).parent)
    program = shutil.which("nbgrader", path=next_to_python) or shutil.which("nbgrader")
    settings = (Path(p).glob("nbgrader_config.*") for p in _jupyter_folders())
    configured = _nbgrader_settings(folder) or any(map(any, settings))
    if program is None or not (configured or os.access(EXCHANGE, os.W_OK)):
        raise KitError(
            f"there is nowhere to submit: {folder.path.name} names no service, and nbgrader "
            f"{'is not installed' if program is None else 'has no exchange'} here. Use --to "
            "https://… with the URL from your instructor, or submit as your course describes"
        )
    return program


def _jupyter_folders() -> list[str]:
    try:
        from jupyter_core.paths import jupyter_config_path
    except ImportError:
        return []
    return jupyter_config_path()


def submit_to_exchange(folder: WeekFolder, parcel: SubmissionFiles, program: str) -> str:
    """Submit files through nbgrader; return the time that nbgrader reports, or raise KitError."""
    name = folder.path.name if folder.path.name.startswith(folder.week.week) else folder.week.week
    with tempfile.TemporaryDirectory(prefix="autograder-submit-") as stage:
        write_files(Path(stage) / name, parcel.files)
        settings = _nbgrader_settings(folder)
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
    submitted = _DONE.search(done.stdout + done.stderr)
    if done.returncode or submitted is None:
        why = reason_of(done.stderr or done.stdout)
        if settings is None:
            why += f". Is a {_SETTINGS} missing in the week's folder or the one above?"
        raise KitError(f"nbgrader submit failed: {why}")
    return submitted.group(3).strip()


def _nbgrader_settings(folder: WeekFolder) -> Path | None:
    """Return the nbgrader_config.py that the user owns in the folder or its parent, or None."""
    for parent in (folder.path, folder.path.parent):
        path = parent / _SETTINGS
        if path.is_file() and (not hasattr(os, "geteuid") or path.stat().st_uid == os.geteuid()):
            return path
    return None


def reason_of(log: str) -> str:
    """Return the last line of nbgrader's log, without its prefix, as the reason for a failure."""
    lines = [_LOG.sub("", line).strip() for line in log.splitlines()]
    lines = [line for line in lines if line and line != "nbgrader submit failed"]
    return lines[-1] if lines else "nbgrader reported no reason"


def save_receipt(folder: WeekFolder, line: str) -> None:
    """Append a receipt to RECEIPTS.md in the week's folder, if the folder can be written.

    This file is never submitted.
    """
    path = folder.path / RECEIPTS
    head = "" if path.exists() else "# Your submissions\n\n"
    with contextlib.suppress(OSError), path.open("a", encoding="utf-8") as file:
        file.write(f"{head}- {dt.datetime.now():%Y-%m-%d %H:%M:%S}: {line}\n")
