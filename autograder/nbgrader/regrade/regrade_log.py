"""What is kept of regrades: who changed which scores, when and why, and how to take it back.

`.autograder/regrades/<week>.jsonl` is the log: a line per regrade and per undo, only ever added to.
Beside it, in `<week>/`, each regrade's plan holds the reports before and after. A plan is written
before the gradebook is touched and its line in the log after all is done, so a plan without a line
is one that was interrupted: it is finished first, whatever is done next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec

from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.report_store import Recorded

Scores = dict[str, float]


class ScoreChange(msgspec.Struct, frozen=True):
    """One student's scores, by exercise, and the reports behind them."""

    student: str
    old_scores: dict[str, float | None]  # as the gradebook had them
    new_scores: Scores
    old: Recorded
    new: Recorded


class Plan(msgspec.Struct, frozen=True):
    """A regrade, or the undoing of one."""

    id: str
    week: str
    do: Literal["apply", "undo"]
    at: str
    who: str
    reason: str
    graders: str  # a hash of all that the new scores depend on beside the submissions
    changes: tuple[ScoreChange, ...]
    undoes: str = ""


class LogEntry(msgspec.Struct, frozen=True):
    """A line of the log."""

    id: str
    do: Literal["apply", "undo"]
    week: str
    at: str
    who: str
    reason: str
    graders: str
    undoes: str
    students: dict[str, dict[str, tuple[float | None, float]]]  # exercise -> old and new score


class RegradeLog:
    """The log and the plans of one week."""

    def __init__(self, course: Course, week: Week) -> None:
        folder = course.state / "regrades"
        self.path = folder / f"{week.name}.jsonl"
        self._plans = folder / week.name

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else regrades meanwhile; raises NbgraderError if somebody does."""
        import fcntl

        self._plans.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._plans / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise NbgraderError(
                    "another regrade of this week is running: wait until it has ended"
                ) from None
            yield

    def entries(self) -> list[LogEntry]:
        """What was done, the oldest first. A line that was cut off by a kill is passed over."""
        found = []
        lines = self.path.read_bytes().split(b"\n") if self.path.is_file() else []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=LogEntry))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
        return found

    def last(self) -> LogEntry | None:
        """The latest regrade that was not undone."""
        entries = self.entries()
        undone = {e.undoes for e in entries}
        return next((e for e in reversed(entries) if e.do == "apply" and e.id not in undone), None)

    def plan(self, number: str) -> Plan:
        path = self._plans / f"{number}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=Plan)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise NbgraderError(
                f"{path}: the scores before this regrade cannot be read: take the file from a "
                "backup, or grade the week again"
            ) from None

    def unfinished(self) -> Plan | None:
        """A plan that was interrupted."""
        done = {e.id for e in self.entries()}
        waiting = [p.stem for p in sorted(self._plans.glob("*.json")) if p.stem not in done]
        return self.plan(waiting[0]) if waiting else None

    def begin(self, plan: Plan) -> None:
        self._plans.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(self._plans / f"{plan.id}.json", msgspec.json.encode(plan))

    def end(self, plan: Plan) -> None:
        """Add the line; one write, on a line of its own even after a line that was cut off."""
        students = {
            c.student: {name: (c.old_scores.get(name), new) for name, new in c.new_scores.items()}
            for c in plan.changes
        }
        common = {f: getattr(plan, f) for f in LogEntry.__struct_fields__ if f != "students"}
        line = msgspec.json.encode(LogEntry(**common, students=students)) + b"\n"
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self.path.chmod(0o600)
