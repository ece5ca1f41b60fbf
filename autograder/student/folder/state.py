"""The state file of a week's folder: hints shown, and the results of the last checks.

The file is optional: if it is missing, damaged or read-only, only this information is lost.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from ...files import replace_file
from ..checks.check_results import State


class LastCheck(msgspec.Struct):
    """The last check of an exercise. fingerprint: of its code; file: digest of the module."""

    state: State
    passed: int
    total: int
    fingerprint: str
    file: str = ""


class StudentState(msgspec.Struct):
    """The number of hints shown and the last check, by exercise."""

    hints: dict[str, int] = {}
    checked: dict[str, LastCheck] = {}


def load_state(path: Path) -> StudentState:
    try:
        return msgspec.json.decode(path.read_bytes(), type=StudentState)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return StudentState()


def save_state(path: Path, state: StudentState) -> None:
    with contextlib.suppress(OSError):
        replace_file(path, msgspec.json.format(msgspec.json.encode(state), indent=1))
