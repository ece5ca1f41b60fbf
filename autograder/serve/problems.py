"""What is wrong with the service now, in words for the instructor, and since when."""

from __future__ import annotations

import sys
import time

import msgspec

_STEP = 5.0  # seconds by which a clock may drift from another between two looks


class Trouble(msgspec.Struct, frozen=True):
    since: float
    what: str


class Troubles:
    """Kinds of trouble that are there; each is said once on standard error when it begins."""

    def __init__(self) -> None:
        self.now: dict[str, Trouble] = {}
        self._offset = time.time() - time.monotonic()

    def begin(self, kind: str, what: str) -> None:
        known = self.now.get(kind)
        if known is None or known.what != what:
            print(f"LOOK  {what}", file=sys.stderr, flush=True)
        self.now[kind] = Trouble(known.since if known else time.time(), what)

    def end(self, kind: str) -> None:
        if self.now.pop(kind, None) is not None:
            print(f"  over: {kind}", file=sys.stderr, flush=True)

    def look_at_the_clock(self) -> None:
        """Note that the clock was set: times of hand-in before and after may not compare."""
        offset = time.time() - time.monotonic()
        moved, self._offset = offset - self._offset, offset
        if abs(moved) > _STEP:
            when = time.strftime("%d %B %H:%M:%S")
            self.begin(
                "clock",
                f"at {when} this machine's clock was set {'forward' if moved > 0 else 'back'} by "
                f"{abs(moved):.0f} s: look at who handed in around then",
            )
