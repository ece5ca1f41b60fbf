"""Running a week's public checks in a Python of their own, from the side that must not hang.

Each check has a limit of processor time that the checking Python keeps itself, and a longer one of
wall-clock time that is kept here too. Where it ends early (an endless loop, a crash of the
interpreter), the other exercises are run in a new one. `WarmPython` keeps one ready: starting it
costs what importing torch costs.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from ...model.errors import KitError
from ...model.source.import_failure import STUCK, ImportFailure, ended
from ..folder.week import WeekFolder
from .check_messages import Event, Order, signal_of
from .forked_runs import CAN_SERVE
from .importing import DoesNotRun
from .limits import PATIENCE, waited
from .results import CheckOutcome, Failure, claim_in_words

OnBegin = Callable[[str], None]
_STARTING = 180.0  # seconds for importing torch from a slow disk
_GRACE = 5.0


class CheckingPython:
    """One interpreter that imports what the checks need and waits for its order, or for orders."""

    def __init__(self, folder: WeekFolder, serves: bool = False) -> None:
        self.serves = serves
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        env |= {"MPLBACKEND": "Agg"}
        # torch's threads would spin for each other's next small product: half of a check's time
        env.setdefault("OMP_WAIT_POLICY", "passive")
        command = [sys.executable, "-P", "-m", "autograder.student.checks.runner", str(folder.path)]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._process = subprocess.Popen(
            [*command, "--serve"] if serves else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=env,
        )
        self._orders = 0
        self._events: queue.Queue[Event | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def waits(self) -> bool:
        """Whether it can be given an order."""
        return self._process.poll() is None and (self.serves or not self._orders)

    def order(self, order: Order) -> None:
        assert self._process.stdin is not None
        self._orders += 1
        order = msgspec.structs.replace(order, number=self._orders)
        with contextlib.suppress(OSError):  # it died while starting: `next_event` says so
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()

    def next_event(self, seconds: float) -> Event | None:
        """The next event, or None if the process ended; raises TimeoutError."""
        until = time.monotonic() + seconds
        while True:
            try:
                event = self._events.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if event is None or event.order == self._orders:
                return event  # others are the last words of an order that was done with before

    def exit_code(self) -> int:
        """With which code the process ended; negative: by which signal."""
        return self._process.wait()

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


class _NotBegun(KitError):
    """A Python that was waiting has gone: another one may do."""


class WarmPython:
    """Has a checking Python ready for the next order; unless it is for one alone, for more."""

    def __init__(self, folder: WeekFolder, *, once: bool = False) -> None:
        self._folder, self._once = folder, once
        self._ready: CheckingPython | None = self._started()

    def take(self) -> CheckingPython:
        ready, self._ready = self._ready, None
        if ready is not None and ready.waits:
            return ready
        if ready is not None:
            ready.close()
        return self._started()

    def give_back(self, python: CheckingPython) -> None:
        """It is done with an order; one that takes no other is replaced."""
        if self._ready is None and python.waits:
            self._ready = python
            return
        python.close()
        if self._ready is None and not self._once:
            self._ready = self._started()

    def close(self) -> None:
        self._once = True
        if self._ready is not None:
            self._ready.close()
            self._ready = None

    def _started(self) -> CheckingPython:
        # a conftest.py would be read once, and kept
        single = self._once or (self._folder.path / "conftest.py").exists()
        return CheckingPython(self._folder, serves=CAN_SERVE and not single)


def run_checks(
    folder: WeekFolder,
    exercises: Sequence[str],
    *,
    seconds: float = 20.0,
    on_begin: OnBegin = lambda exercise: None,
    warm: WarmPython | None = None,
) -> list[CheckOutcome]:
    """The outcome of every public check of the exercises; raises KitError for faults of ours."""
    outcomes: list[CheckOutcome] = []
    left, again = list(exercises), warm is not None
    while left:
        python = warm.take() if warm else CheckingPython(folder)
        order = Order(tuple(left), tuple(o.test for o in outcomes), seconds)
        try:
            stopped = _run_order(python, order, outcomes, on_begin)
        except DoesNotRun:
            raise
        except BaseException as error:
            python.close()  # it may still be at it
            if not (again and isinstance(error, _NotBegun)):
                raise
            again = False
            continue
        finally:
            if warm is not None:
                warm.give_back(python)
            else:
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
    wait = PATIENCE * order.seconds + _GRACE
    while True:
        try:
            event = python.next_event(wait if begun else _STARTING)
        except TimeoutError:
            if begun is None:
                raise KitError("the checks did not start within three minutes") from None
            python.close()
            if not begun.begins:
                raise DoesNotRun(begun.stopped or ImportFailure("", STUCK)) from None
            return _stopped(begun, Failure("timeout", waited(wait)))
        if event is None or event.ended is not None:
            if begun is None:
                raise _NotBegun(f"the checks could not start: {python.complaint()}")
            code = python.exit_code() if event is None or event.ended is None else event.ended
            if not begun.begins:
                raise DoesNotRun(begun.stopped or ImportFailure("", ended(signal_of(code))))
            return _stopped(begun, Failure("ended", str(code), signal_of(code)))
        if event.problem:
            raise _unreadable(event.problem)
        if event.finished and begun is not None and begun.stopped:
            raise DoesNotRun(begun.stopped)
        if event.finished:
            return None
        if event.importing is not None or event.stopped:
            begun = event
        elif event.places:
            outcomes[:] = [_placed(o, event) for o in outcomes]
        elif event.outcome is None:
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


def _placed(outcome: CheckOutcome, event: Event) -> CheckOutcome:
    """The outcome with where to look, if its exercise is the event's."""
    if outcome.exercise != event.exercise or outcome.failure is None:
        return outcome
    failure = msgspec.structs.replace(outcome.failure, places=event.places)
    return msgspec.structs.replace(outcome, failure=failure)


def _stopped(begun: Event, failure: Failure) -> CheckOutcome:
    return CheckOutcome(
        begun.begins, begun.exercise, claim_in_words(begun.begins, begun.exercise), failure
    )
