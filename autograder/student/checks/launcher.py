"""Start the checking process, send it orders, and collect the outcomes of public checks.

The checking process stops each check at its time limit, and this module kills the process if it no
longer responds. If the process ends early (because of an endless loop or a crash of the
interpreter), the remaining exercises are checked in a new process. `WarmPython` keeps a process
ready, because every new process has to import torch, which is slow.
"""

import contextlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

import msgspec

from ...model.errors import KitError
from ...model.source.import_failure import STUCK, ImportFailure, ended
from ..folder.week import WeekFolder
from .check_results import (
    PATIENCE,
    CheckEvent,
    CheckOrder,
    CheckOutcome,
    Failure,
    claim_in_words,
    signal_name,
    timeout_message,
)

_CAN_FORK = sys.platform == "linux"  # on other systems, torch's libraries crash after a fork
_START_SECONDS = 180.0  # long enough to import torch from a slow disk
_GRACE = 30.0  # seconds after the time limit until a process that has not stopped is killed


class DoesNotRun(Exception):
    """The student's module cannot be imported."""

    def __init__(self, failure: ImportFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class WarmPython:
    """A checking process with all libraries imported, which runs one order at a time.

    If the process cannot fork, it ends after each order, and `finish` starts the next process.
    events: the events of the current order. The last one has `finished` set, or is None if the
    process ended early.
    """

    def __init__(self, folder: WeekFolder) -> None:
        self._folder = folder
        folder.checks  # noqa: B018  # raises KitError if the file is missing
        self._serves = _CAN_FORK
        self._start()

    def _start(self) -> None:
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        env |= {"MPLBACKEND": "Agg"}
        # by default, torch's threads spend half of a check's time busy-waiting for work
        env.setdefault("OMP_WAIT_POLICY", "passive")
        command = [sys.executable, "-P", "-m", "autograder.student.checks.runner"]
        command += [str(self._folder.path), *(["--serve"] if self._serves else [])]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=env
        )
        self.events: queue.Queue[CheckEvent | None] = queue.Queue()
        threading.Thread(target=_read, args=(self.process, self.events), daemon=True).start()

    def send(self, order: CheckOrder) -> None:
        if self.process.poll() is not None:
            self.restart()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # the process has died, so `events` ends with None
            self.process.stdin.write(msgspec.json.encode(order) + b"\n")
            self.process.stdin.flush()

    def last_error(self) -> str:
        """Return the last line that the process wrote to standard error."""
        self._errors.seek(0)
        return self._errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")[-1]

    def finish(self) -> None:
        """Restart the process after an order, unless it accepts further orders."""
        if not self._serves:
            self.restart()

    def restart(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _read(process: subprocess.Popen[bytes], events: queue.Queue[CheckEvent | None]) -> None:
    assert process.stdout is not None
    # a killed process may leave an incomplete line, and `close` may close the stream
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
        for line in process.stdout:
            events.put(msgspec.json.decode(line, type=CheckEvent))
    events.put(None)


def run_checks(
    folder: WeekFolder, exercises: Sequence[str], seconds: float, warm: WarmPython | None
) -> list[CheckOutcome]:
    """Run the public checks of the exercises and return their outcomes.

    seconds: time limit of each check. warm: the checking process; None: a new one.
    Raise DoesNotRun if the module cannot be imported, KitError if the checks cannot run.
    """
    if warm is None:
        with contextlib.closing(WarmPython(folder)) as python:
            return run_checks(folder, exercises, seconds, python)
    outcomes: dict[str, CheckOutcome] = {}
    left = list(exercises)
    while left:
        order = CheckOrder(tuple(left), tuple(outcomes), seconds)
        warm.send(order)
        try:
            stopped = _run_order(warm, order, outcomes)
        except BaseException:  # including Ctrl-C, because a check may still be running
            warm.restart()
            raise
        if stopped is None:
            warm.finish()
            break
        warm.restart()
        outcomes[stopped.test] = stopped
        left.remove(stopped.exercise)
    return list(outcomes.values())


def _run_order(
    python: WarmPython, order: CheckOrder, outcomes: dict[str, CheckOutcome]
) -> CheckOutcome | None:
    """Wait for the events of an order, and add the outcome of each finished check to `outcomes`.

    Return the outcome of the check that ended the process, or None if the order is complete.
    """
    begun: CheckEvent | None = None
    while True:
        try:
            longest = PATIENCE * order.seconds + _GRACE if begun else _START_SECONDS
            event = python.events.get(timeout=longest)
        except queue.Empty:
            if begun is None:
                raise KitError(
                    "the checks did not start within three minutes: try again when this machine "
                    "is less busy"
                ) from None
            message = timeout_message(order.seconds, computing=False)
            return _interrupted(begun, Failure("timeout", message), STUCK)
        if event is None:
            if begun is None:
                raise KitError(f"the checks could not start: {python.last_error()}")
            code = python.process.wait()  # negative for a signal
            signal = signal_name(code)
            return _interrupted(begun, Failure("ended", str(code), signal), ended(signal))
        if event.problem:
            raise _unreadable_checks(event.problem)
        if event.stopped:
            raise DoesNotRun(event.stopped)
        if event.finished:
            return None
        if event.outcome is None:
            begun = event
        elif event.outcome.failure and event.outcome.failure.kind == "timeout":
            return event.outcome
        else:
            outcomes[event.outcome.test] = event.outcome


def _interrupted(begun: CheckEvent, failure: Failure, of_import: str) -> CheckOutcome:
    """Return the interrupted check's outcome; raise DoesNotRun if the import was interrupted."""
    if not begun.begins:
        raise DoesNotRun(ImportFailure("", of_import))
    claim = claim_in_words(begun.begins, begun.exercise)
    return CheckOutcome(begun.begins, begun.exercise, claim, failure)


def _unreadable_checks(problem: str) -> KitError:
    if "No module named" in problem:
        name = problem.split("'")[1] if "'" in problem else "it"
        return KitError(f"{problem}. Install it: {sys.executable} -m pip install {name}")
    return KitError(
        f"the file of public checks cannot be run ({problem}): "
        "replace it with the one in the released folder"
    )
