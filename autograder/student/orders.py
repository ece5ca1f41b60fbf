"""What passes between a student's command and the checking Python: lines of JSON."""

from __future__ import annotations

import msgspec

from .results import CheckOutcome

TIMED_OUT = 3  # the exit code of a checking Python that ended itself


class Order(msgspec.Struct, frozen=True):
    """What to run: the checks of these exercises, apart from those already done."""

    exercises: tuple[str, ...]
    done: tuple[str, ...] = ()
    seconds: float = 20.0


class Event(msgspec.Struct, frozen=True, omit_defaults=True):
    """The check that begins, or how it ended; a problem with the checks; or the end."""

    begins: str = ""
    exercise: str = ""
    outcome: CheckOutcome | None = None
    problem: str = ""
    finished: bool = False
