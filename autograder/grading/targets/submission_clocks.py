"""The clocks of one submission: how long a call may take, and why it was stopped.

Theory of operation. A call, an exercise and a submission have limits of wall-clock time. While the
submission's process is ready to run but waits for a processor, its clocks are stopped, because a
busy machine is not its fault. `_PATIENCE` limits the total.
"""

from __future__ import annotations

from typing import NamedTuple

from ...model.course import Limits
from ...sandbox import Child
from ..outcomes import TimedOut

_PATIENCE = 4.0  # longest wait for processors, as a multiple of the submission's limit
_SHARE_OF_WAITING = 0.25  # share of idle time that counts as used
_START_SECONDS = 0.05  # to start a process, including the grader's own work


class _TimeRemaining(NamedTuple):
    """Seconds for a call. `used_up`: the limit that is reached first, "" for that of a call."""

    seconds: float
    used_up: str


class SubmissionClocks:
    """The time that a submission has spent, by exercise.

    starts:   the number of its processes so far
    forgiven: seconds for which its processes waited for a processor
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._spent: dict[str, float] = {}
        self._ran = self._queued = 0.0  # in earlier processes
        self._waited = 0.0  # in this process, already forgiven
        self._child: Child | None = None
        self.starts = 0
        self.forgiven = 0.0

    def child_started(self, child: Child, *, free: bool = False) -> None:
        """Start to count a new process. `free`: ignore the processor time that it already used."""
        self._child, self._waited = child, 0.0
        self.starts += 1
        if free:
            self._ran -= child.ran_seconds()

    def child_ended(self, child: Child) -> None:
        self._ran += child.ran_seconds()
        self._queued += child.waited_seconds()
        self._child = None

    def spend(self, exercise: str, seconds: float) -> None:
        self._spent[exercise] = self._spent.get(exercise, 0.0) + seconds

    def forgive(self) -> float:
        """Return the seconds since the last call for which the process waited for a processor."""
        if self._child is None:
            return 0.0
        waited = self._child.waited_seconds()
        patience = _PATIENCE * self._limits.submission_seconds - self.forgiven
        more = min(max(0.0, waited - self._waited), patience)
        self._waited = waited
        self.forgiven += more
        return more

    def seconds_remaining(self, exercise: str) -> float:
        """Return the seconds for a call; raise TimedOut if earlier calls used them up."""
        budget = self._time_remaining(exercise)
        if budget.seconds < self._limits.call_seconds:
            spent = self._spent.get(exercise, 0.0)
            self._spent[exercise] = spent - min(spent, self.forgive())
            budget = self._time_remaining(exercise)
        if budget.seconds <= 0:
            raise TimedOut(f"Not run: {budget.used_up}.")
        return budget.seconds

    def why_stopped(self, exercise: str, seconds: float) -> str:
        """Return the message for a call that was stopped after this many seconds."""
        budget = self._time_remaining(exercise)
        if budget.used_up:
            return f"The call was stopped: {budget.used_up}."
        hint = "Is there a loop that never ends?"
        if self._child is not None and self._child.ran_seconds() < seconds / 2:
            hint = "It was idle for most of them: in `time.sleep`, or waiting for a lock?"
        return f"The call was stopped after {seconds:g} seconds. {hint}"

    def ran_seconds(self) -> float:
        """Return the processor time of all processes so far."""
        return self._ran + (self._child.ran_seconds() if self._child is not None else 0.0)

    def used_seconds(self) -> float:
        """Return the processor time of all processes, or a share of the time spent idle.

        The share is for programs that sleep or die in every call: they use no processor time, but
        delay the grader.
        """
        queued = self._queued + (self._child.waited_seconds() if self._child is not None else 0.0)
        idle = (sum(self._spent.values()) - queued) * _SHARE_OF_WAITING
        return max(self.ran_seconds(), idle) + self.starts * _START_SECONDS

    def _time_remaining(self, exercise: str) -> _TimeRemaining:
        """Return the smallest of the limits of a call, its exercise and the submission."""
        limits = self._limits
        exercise_left = limits.exercise_seconds - self._spent.get(exercise, 0.0)
        left = limits.submission_seconds - sum(self._spent.values())
        return min(
            _TimeRemaining(limits.call_seconds, ""),
            _TimeRemaining(
                exercise_left,
                f"the calls of this exercise used up its {limits.exercise_seconds:g} seconds",
            ),
            _TimeRemaining(
                left, f"its calls used up the submission's {limits.submission_seconds:g} seconds"
            ),
            key=lambda each: each.seconds,
        )
