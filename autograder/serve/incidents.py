"""Current incidents of the service, described for the instructor."""

from __future__ import annotations

import sys
import time

import msgspec

_CLOCK_TOLERANCE = 5.0  # seconds


class Incident(msgspec.Struct, frozen=True):
    """Something that is wrong since a time (seconds of UTC)."""

    since: float
    message: str


class Incidents:
    """Open incidents by kind. Each is printed to standard error when it begins."""

    def __init__(self) -> None:
        self.current: dict[str, Incident] = {}
        self._clock_offset = time.time() - time.monotonic()

    def open(self, kind: str, message: str) -> None:
        known = self.current.get(kind)
        if known is None or known.message != message:
            print(f"WARNING  {message}", file=sys.stderr, flush=True)
        self.current[kind] = Incident(known.since if known else time.time(), message)

    def close(self, kind: str) -> None:
        if self.current.pop(kind, None) is not None:
            print(f"  resolved: {kind}", file=sys.stderr, flush=True)

    def check_clock(self) -> None:
        """Open an incident if the clock was set: submission times may then be wrong."""
        offset = time.time() - time.monotonic()
        change, self._clock_offset = offset - self._clock_offset, offset
        if abs(change) > _CLOCK_TOLERANCE:
            when = time.strftime("%d %B %H:%M:%S")
            direction = "forward" if change > 0 else "back"
            self.open(
                "clock",
                f"this machine's clock was set {direction} by {abs(change):.0f} s at {when}: check "
                "who submitted around that time",
            )
