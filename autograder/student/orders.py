"""What passes between a student's command and the checking Python: lines of JSON."""

from __future__ import annotations

import signal

import msgspec

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

    `places` tells where the failing checks of an exercise lead.
    `finished` comes last when all checks were run; `ended` says how a Python that was forked for
    the order went, after whatever it told itself.
    """

    begins: str = ""
    exercise: str = ""
    outcome: CheckOutcome | None = None
    problem: str = ""
    finished: bool = False
    ended: str = ""
    places: tuple[Spot, ...] = ()
    order: int = 0


def ending_in_words(code: int) -> str:
    """How a process ended, from its exit code (negative: the signal that ended it)."""
    if code < 0:
        try:
            return f"Python was ended by {signal.Signals(-code).name}"
        except ValueError:
            pass
    return f"Python ended with exit code {code}"
