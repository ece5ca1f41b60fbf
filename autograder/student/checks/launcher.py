"""Run a week's public checks in a separate process.

The checking process enforces each check's limit of processor time, and this side a longer
wall-clock limit. If the process ends early (an endless loop, a crash of the interpreter), the
remaining exercises run in a new one. `WarmPython` keeps a process ready, because starting one takes
as long as importing torch.
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
from .check_results import (
    CheckEvent,
    CheckOrder,
    CheckOutcome,
    Failure,
    claim_in_words,
    signal_name,
)
from .forked_runs import CAN_SERVE
from .importing import DoesNotRun
from .time_limit import PATIENCE, waiting_message

OnBegin = Callable[[str], None]
_START_SECONDS = 180.0  # importing torch from a slow disk
_GRACE = 5.0


class CheckingPython:
    """A process that imports the libraries of the checks and waits for one order, or many."""

    def __init__(self, folder: WeekFolder, serves: bool = False) -> None:
        self.serves = serves
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        env |= {"MPLBACKEND": "Agg"}
        # otherwise torch's threads busy-wait between small products: half of a check's time
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
        self.pid = self._process.pid
        self._orders = 0
        self._events: queue.Queue[CheckEvent | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def is_waiting(self) -> bool:
        """True if it can take an order."""
        return self._process.poll() is None and (self.serves or not self._orders)

    def send(self, order: CheckOrder) -> None:
        assert self._process.stdin is not None
        self._orders += 1
        order = msgspec.structs.replace(order, number=self._orders)
        with contextlib.suppress(OSError):  # it died while starting: `next_event` returns None
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")
            self._process.stdin.flush()

    def next_event(self, seconds: float) -> CheckEvent | None:
        """Return the next event of the order, or None if the process ended; raise TimeoutError."""
        until = time.monotonic() + seconds
        while True:
            try:
                event = self._events.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise TimeoutError from None
            if event is None or event.order == self._orders:
                return event  # events of an earlier order may still arrive

    def exit_code(self) -> int:
        """Wait for the end of the process; return its exit code, negative for a signal."""
        return self._process.wait()

    def last_error(self) -> str:
        """Return the last line on standard error."""
        self._errors.seek(0)
        return self._errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")[-1]

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
                self._events.put(msgspec.json.decode(line, type=CheckEvent))
        except (OSError, ValueError, msgspec.MsgspecError):
            pass
        self._events.put(None)


class _NotStarted(KitError):
    """The process ended before it began the order; a new one may work."""


class WarmPython:
    """A checking process that is ready for the next order; with `once`, only for the first."""

    def __init__(self, folder: WeekFolder, *, once: bool = False) -> None:
        self._folder, self._once = folder, once
        # a process that serves would read conftest.py only once
        self._serves = CAN_SERVE and not once and not (folder.path / "conftest.py").exists()
        self._process = CheckingPython(folder, self._serves)

    @property
    def pid(self) -> int:
        return self._process.pid

    def take(self) -> CheckingPython:
        """Return a process that can take an order."""
        if not self._process.is_waiting:
            self._restart()
        return self._process

    def refill(self) -> None:
        """After an order, replace a process that takes no more."""
        if not self._once and not self._process.is_waiting:
            self._restart()

    def close(self) -> None:
        self._process.close()

    def _restart(self) -> None:
        self._process.close()
        self._process = CheckingPython(self._folder, self._serves)


def run_checks(
    folder: WeekFolder,
    exercises: Sequence[str],
    *,
    seconds: float = 20.0,
    on_begin: OnBegin = lambda exercise: None,
    warm: WarmPython | None = None,
) -> list[CheckOutcome]:
    """Return the outcome of every public check of the exercises.

    seconds: limit for each check. on_begin: called with the exercise when a check starts.
    Raises DoesNotRun if the module cannot be imported, KitError if the checks cannot run.
    """
    pool = warm or WarmPython(folder, once=True)
    outcomes: list[CheckOutcome] = []
    left, may_retry = list(exercises), warm is not None
    try:
        while left:
            python = pool.take()
            order = CheckOrder(tuple(left), tuple(o.test for o in outcomes), seconds)
            try:
                stopped = _run_order(python, order, outcomes, on_begin)
            except DoesNotRun:
                raise
            except BaseException as error:
                python.close()  # it may still be running
                if not (may_retry and isinstance(error, _NotStarted)):
                    raise
                may_retry = False
                continue
            finally:
                pool.refill()
            if stopped is None:
                break
            outcomes.append(stopped)
            left.remove(stopped.exercise)
    finally:
        if warm is None:
            pool.close()
    return outcomes


def _run_order(
    python: CheckingPython, order: CheckOrder, outcomes: list[CheckOutcome], on_begin: OnBegin
) -> CheckOutcome | None:
    """Append outcomes as they arrive; return that of a check which stopped the process, or None."""
    python.send(order)
    begun: CheckEvent | None = None
    wait = PATIENCE * order.seconds + _GRACE
    while True:
        try:
            event = python.next_event(wait if begun else _START_SECONDS)
        except TimeoutError:
            if begun is None:
                raise KitError("the checks did not start within three minutes") from None
            python.close()
            if not begun.begins:
                raise DoesNotRun(begun.stopped or ImportFailure("", STUCK)) from None
            return _stopped(begun, Failure("timeout", waiting_message(wait)))
        if event is None or event.ended is not None:
            if begun is None:
                raise _NotStarted(f"the checks could not start: {python.last_error()}")
            code = python.exit_code() if event is None or event.ended is None else event.ended
            if not begun.begins:
                raise DoesNotRun(begun.stopped or ImportFailure("", ended(signal_name(code))))
            return _stopped(begun, Failure("ended", str(code), signal_name(code)))
        if event.problem:
            raise _unreadable_checks(event.problem)
        if event.finished:
            if begun is not None and begun.stopped:
                raise DoesNotRun(begun.stopped)
            return None
        if event.importing is not None or event.stopped:
            begun = event
        elif event.places:
            outcomes[:] = [_with_places(o, event) for o in outcomes]
        elif event.outcome is None:
            begun = event
            on_begin(event.exercise)
        elif event.outcome.failure and event.outcome.failure.kind == "timeout":
            return event.outcome
        else:
            outcomes.append(event.outcome)


def _unreadable_checks(problem: str) -> KitError:
    if "No module named" in problem:
        name = problem.split("'")[1] if "'" in problem else "it"
        return KitError(
            f"{problem}. Install it for this Python: {sys.executable} -m pip install {name}"
        )
    return KitError(
        f"the file of public checks cannot be run ({problem}): "
        "replace it with the one in the released folder"
    )


def _with_places(outcome: CheckOutcome, event: CheckEvent) -> CheckOutcome:
    if outcome.exercise != event.exercise or outcome.failure is None:
        return outcome
    failure = msgspec.structs.replace(outcome.failure, places=event.places)
    return msgspec.structs.replace(outcome, failure=failure)


def _stopped(begun: CheckEvent, failure: Failure) -> CheckOutcome:
    claim = claim_in_words(begun.begins, begun.exercise)
    return CheckOutcome(begun.begins, begun.exercise, claim, failure)
