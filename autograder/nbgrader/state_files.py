"""JSON files below `.autograder/` for data that nbgrader's gradebook does not store."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from ..files.atomic import replace_file

_Content = TypeVar("_Content")


def read_state(path: Path, kind: type[_Content]) -> _Content | None:
    """Return the content of a state file, or None if it is missing or of another version."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_state(path: Path, content: object) -> None:
    """Replace a state file in one step; only its owner may read its folder."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(content))
