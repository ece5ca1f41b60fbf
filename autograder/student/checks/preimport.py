"""What a check imports late, imported once for all checks that follow.

A fork tells which modules of large libraries it had to import; the Python that waits imports them
for the next fork. Some libraries read the environment when they are imported, and a student's file
may set it before: what it was is told too. Where a file says something else of it now, whoever has
such a library already is of no use any more.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import string
import sys
from pathlib import Path

# Torch imports half of itself when it is first asked for an optimizer or a device by name.
_LIBRARIES = ("torch", "keras", "transformers", "tokenizers", "triton")
_SETTINGS = ("KERAS_BACKEND", "TRITON_INTERPRET")
_MOST_TOLD = 32768
_OF_A_NAME = frozenset(string.ascii_letters + string.digits + "._")


def settings_in(folder: Path) -> tuple[str, ...]:
    """The lines of a folder's files that say what such a library reads."""
    lines: list[str] = []
    for path in sorted(folder.glob("*.py")):
        with contextlib.suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            lines += (x.strip() for x in text.split("\n") if any(s in x for s in _SETTINGS))
    return tuple(lines)


def imported_since(before: frozenset[str]) -> bytes:
    """The modules of large libraries that were imported since, and with what environment."""
    names = [n for n in sys.modules if n not in before and n.partition(".")[0] in _LIBRARIES]
    here = os.getcwd() + os.sep
    own = {n for n in _LIBRARIES if str(_file(n)).startswith(here)}  # a student's `keras.py`
    late = [n for n in names if n.partition(".")[0] not in own]
    settings = [f"{name}={os.environ[name]}" for name in _SETTINGS if name in os.environ]
    return "\n".join([*settings, *late]).encode()[:_MOST_TOLD]


def import_told(told: bytes) -> None:
    """Import what another process had to, as it did; the environment stays as it was."""
    lines = told.decode("utf-8", "replace").split("\n")
    settings = dict(line.split("=", 1) for line in lines if line.startswith(_SETTINGS))
    names = [n for n in lines if n.partition(".")[0] in _LIBRARIES and set(n) <= _OF_A_NAME]
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    if names:
        gc.freeze()  # as before the first fork


def _file(name: str) -> object:
    return getattr(sys.modules.get(name), "__file__", None)
