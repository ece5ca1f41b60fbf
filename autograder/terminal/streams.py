"""Wrap standard output and error to escape control characters."""

import sys
from collections.abc import Iterable
from typing import IO, Any

from ..model.message_text import visible


class GuardedStream:
    """A text stream that escapes control characters except tabs and newlines."""

    def __init__(self, wrapped: IO[str]) -> None:
        self.wrapped = wrapped

    def write(self, text: str) -> int:
        self.wrapped.write(visible(text, keep="\t\n"))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def isatty(self) -> bool:
        """Return False, so that programs emit no colours: their escape codes would be escaped."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.wrapped, name)


def guard_streams() -> None:
    """Replace standard output and error of this process with guarded streams."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is not None and not isinstance(stream, GuardedStream):
            setattr(sys, name, GuardedStream(stream))
