"""What passes between a student's command and the checking Python: lines of JSON."""

from __future__ import annotations

import contextlib
import signal

import msgspec

from ...model.source.import_failure import ImportFailure
from .results import CheckOutcome, Spot

TIMED_OUT = 3  # the exit code of a checking Python that ended itself


class Order(msgspec.Struct, frozen=True):
    """What to run: the checks of these exercises, apart from those already done.

    number: counts the orders that one checking Python got; its events carry it.
    """

    exercises: tuple[str, ...]
    done: tuple[str, ...] = ()
    seconds: float = 20.0
    number: int = 0


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """The check that begins, or how it ended; a problem with the checks; or the end.

    `importing` tells that the student's module begins to be imported, or, if False, that it was;
    `stopped` what ended that import: then no check runs.
    `places` tells where the failing checks of an exercise lead.
    `finished` comes last when all checks were run; `ended` is the exit code of a Python that was
    forked for the order, after whatever it told itself.
    """

    begins: str = ""
    exercise: str = ""
    outcome: CheckOutcome | None = None
    problem: str = ""
    finished: bool = False
    ended: int | None = None
    importing: bool | None = None
    stopped: ImportFailure | None = None
    places: tuple[Spot, ...] = ()
    order: int = 0


def signal_of(code: int) -> str:
    """The name of the signal that ended a process, from its exit code; "" if none did."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name if code < 0 else ""
    return f"signal {-code}"
