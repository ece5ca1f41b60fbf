"""Running a week's public checks in a Python of their own, from the side that must not hang.

Each check has a time limit that the checking Python keeps itself, and a second, longer one that is
kept here. Where it ends early (an endless loop, a crash of the interpreter), the other exercises
are run in a new one.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence

import msgspec

from ..model.errors import KitError
from .orders import Event, Order
from .results import CheckOutcome, Failure, claim_in_words
from .week import WeekFolder

OnBegin = Callable[[str], None]
_STARTING = 180.0  # seconds for importing torch from a slow disk
_GRACE = 5.0


class CheckingPython:
    """One interpreter that imports what the checks need and waits for its order."""

    def __init__(self, folder: WeekFolder) -> None:
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        env |= {"MPLBACKEND": "Agg"}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder.student.runner", str(folder.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=env,
        )
        self._events: queue.Queue[Event | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def order(self, order: Order) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it died while starting: `next_event` says so
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()

    def next_event(self, seconds: float) -> Event | None:
        """The next event, or None if the process ended; raises TimeoutError."""
        try:
            return self._events.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None

    def ending(self) -> str:
        """How the process ended, in words."""
        code = self._process.wait()
        if code < 0:
            try:
                return f"Python was ended by {signal.Signals(-code).name}"
            except ValueError:
                pass
        return f"Python ended with exit code {code}"

    def complaint(self) -> str:
        """The last line on standard error."""
        self._errors.seek(0)
        lines = self._errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")
        return lines[-1]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._events.put(msgspec.json.decode(line, type=Event))
        except (OSError, ValueError, msgspec.MsgspecError):
            pass
        self._events.put(None)


def run_checks(
    folder: WeekFolder,
    exercises: Sequence[str],
    *,
    seconds: float = 20.0,
    on_begin: OnBegin = lambda exercise: None,
    warm: CheckingPython | None = None,
) -> list[CheckOutcome]:
    """The outcome of every public check of the exercises; raises KitError for faults of ours."""
    outcomes: list[CheckOutcome] = []
    left = list(exercises)
    while left:
        python = warm or CheckingPython(folder)
        warm = None
        try:
            order = Order(tuple(left), tuple(o.test for o in outcomes), seconds)
            stopped = _run_order(python, order, outcomes, on_begin)
        finally:
            python.close()
        if stopped is None:
            break
        outcomes.append(stopped)
        left.remove(stopped.exercise)
    return outcomes


def _run_order(
    python: CheckingPython, order: Order, outcomes: list[CheckOutcome], on_begin: OnBegin
) -> CheckOutcome | None:
    """Run until all is done (None) or a check stopped the process (its outcome)."""
    python.order(order)
    begun: Event | None = None
    while True:
        try:
            event = python.next_event(order.seconds + _GRACE if begun else _STARTING)
        except TimeoutError:
            if begun is None:
                raise KitError("the checks did not start within three minutes") from None
            return _stopped(begun, Failure("timeout"))
        if event is None:
            if begun is None:
                raise KitError(f"the checks could not start: {python.complaint()}")
            return _stopped(begun, Failure("ended", python.ending()))
        if event.problem:
            raise _unreadable(event.problem)
        if event.finished:
            return None
        if event.outcome is None:
            begun = event
            on_begin(event.exercise)
        elif event.outcome.failure and event.outcome.failure.kind == "timeout":
            return event.outcome
        else:
            outcomes.append(event.outcome)


def _unreadable(problem: str) -> KitError:
    if "No module named" in problem:
        name = problem.split("'")[1] if "'" in problem else "it"
        return KitError(
            f"{problem}. Install it for this Python: {sys.executable} -m pip install {name}"
        )
    return KitError(
        f"the public checks cannot be read ({problem}): "
        "take their file from the week's folder as it was handed out"
    )


def _stopped(begun: Event, failure: Failure) -> CheckOutcome:
    return CheckOutcome(
        begun.begins, begun.exercise, claim_in_words(begun.begins, begun.exercise), failure
    )
