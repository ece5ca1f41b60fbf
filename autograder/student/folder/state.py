"""What is remembered in a week's folder: hints shown, and how the last checks went.

The file is a convenience. Where it is missing, damaged or cannot be written, nothing is lost but
the memory.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from ..checks.results import State


class Remembered(msgspec.Struct):
    """The last check of one exercise, and what was checked: its fingerprint, the file's digest."""

    state: State
    passed: int
    total: int
    fingerprint: str
    file: str = ""


class StudentState(msgspec.Struct):
    hints: dict[str, int] = {}
    checked: dict[str, Remembered] = {}


def recall(path: Path) -> StudentState:
    try:
        return msgspec.json.decode(path.read_bytes(), type=StudentState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return StudentState()


def remember(path: Path, state: StudentState) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    with contextlib.suppress(OSError):
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(state), indent=1))
        os.replace(temporary, path)
