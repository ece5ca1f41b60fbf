"""Atomically replaced files and folders, for data that nbgrader does not store."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from ..files.atomic import replace_file

_Content = TypeVar("_Content")


def read_state(path: Path, kind: type[_Content]) -> _Content | None:
    """Return the content of a state file, or None if it is missing or has a different format."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_state(path: Path, content: object) -> None:
    """Replace a state file atomically; only its owner may read its folder."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(content))


def replace_folder(folder: Path, files: Mapping[str, bytes], mode: int = 0o777) -> None:
    """Replace a folder atomically by a folder with these files."""
    fresh, former = (folder.with_name(f".{folder.name}.{which}") for which in ("new", "old"))
    for stale in (fresh, former):
        shutil.rmtree(stale, ignore_errors=True)
    fresh.mkdir(parents=True, mode=mode)
    for name, content in files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if folder.exists():
        folder.replace(former)
    fresh.replace(folder)
    shutil.rmtree(former, ignore_errors=True)
