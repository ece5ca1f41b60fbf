"""Modules of our own that are imported again and again in one process: compiled once each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from types import CodeType

_MOST = 512  # modules


class OwnCode:
    """Hands out loaders that remember what they have compiled."""

    def add_files(self, files: Iterable[str]) -> None:
        """Nothing but the module is ever imported."""

    def loader(self, name: str, origin: str) -> SourceFileLoader:
        return _OwnLoader(name, origin)


class _OwnLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        found = os.stat(self.path)
        return _compiled(self.path, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=_MOST)
def _compiled(path: str, *_: int) -> CodeType | None:
    return SourceFileLoader("own", path).get_code("own")
