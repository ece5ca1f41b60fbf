"""Standard output and error of a submission's code."""

from __future__ import annotations

import io

MAX_CHARACTERS = 4_000


class CapturedOutput(io.TextIOBase):
    """A text stream that keeps the first few thousand characters."""

    def __init__(self) -> None:
        self._written = ""

    def write(self, text: str) -> int:
        if isinstance(text, str) and len(self._written) < MAX_CHARACTERS:
            self._written += text[: MAX_CHARACTERS - len(self._written)]
        return len(text)

    def text(self) -> str:
        """Return the captured text as a plain `str`, even if the submission changed this object."""
        text = self._written
        if not isinstance(text, str) or (type(text) is str and not text):
            return ""
        start = str.__getitem__(text, slice(0, MAX_CHARACTERS))
        return str.encode(start, "utf-8", "replace").decode("utf-8")

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read-only is enough
        return "utf-8"
