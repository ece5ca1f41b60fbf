"""Current incidents of the service, described for the instructor."""

from __future__ import annotations

import sys
import time

import msgspec


class Incident(msgspec.Struct, frozen=True):
    """A problem, and when it began (seconds since the epoch)."""

    since: float
    message: str


class Incidents:
    """Open incidents by kind. Each is printed to standard error when it begins."""

    def __init__(self) -> None:
        self.current: dict[str, Incident] = {}

    def open(self, kind: str, message: str) -> None:
        known = self.current.get(kind)
        if known is None or known.message != message:
            print(f"WARNING  {message}", file=sys.stderr, flush=True)
        self.current[kind] = Incident(known.since if known else time.time(), message)

    def close(self, kind: str) -> None:
        if self.current.pop(kind, None) is not None:
            print(f"  resolved: {kind}", file=sys.stderr, flush=True)
