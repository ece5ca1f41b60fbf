"""Standard output and error on which nothing that a stranger wrote acts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, Any

from ..model.visible import visible


class ShownStream:
    """A text stream that obeys nothing but the end of a line."""

    def __init__(self, behind: IO[str]) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        self.behind.write(visible(text, keep="\t\n"))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def isatty(self) -> bool:
        """No: who writes here plainly would only have its own sequences shown."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def guard_streams() -> None:
    """From now on, what is printed on standard output and error is shown and not obeyed."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is not None and not isinstance(stream, ShownStream):
            setattr(sys, name, ShownStream(stream))
