"""A log of regrades: who changed which scores, when and why, and how to undo it.

`.autograder/regrades/<week>.jsonl` is the log, an append-only file with a line per regrade and per
undo. In the folder `<week>/`, each regrade's plan has the reports before and after. A plan is
written before the gradebook changes and its log line after everything else, so a plan without a
line was interrupted: it is completed before the next regrade.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import msgspec

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ..gradebook.report_store import Recorded
from ..state_files import write_state

Scores = dict[str, float]


class ScoreChange(msgspec.Struct, frozen=True):
    """One student's scores before and after, by exercise, with their reports."""

    student: str
    old_scores: dict[str, float | None]  # from the gradebook
    new_scores: Scores
    old: Recorded
    new: Recorded


class Plan(msgspec.Struct, frozen=True):
    """A regrade, or the undo of a regrade."""

    id: str
    week: str
    do: Literal["apply", "undo"]
    at: str
    who: str
    reason: str
    graders: str  # a hash of everything except the submissions that the new scores depend on
    changes: tuple[ScoreChange, ...]
    undoes: str = ""


class LogEntry(msgspec.Struct, frozen=True):
    """One line of the log."""

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
        """Lock the week; raise NbgraderError if a regrade is running."""
        import fcntl

        self._plans.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self._plans / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise NbgraderError(
                    "another regrade of this week is running: wait until it is finished"
                ) from None
            yield

    def entries(self) -> list[LogEntry]:
        """Return the log, the oldest first, without a line that an interruption cut off."""
        found = []
        lines = self.path.read_bytes().split(b"\n") if self.path.is_file() else []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=LogEntry))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
        return found

    def last(self) -> LogEntry | None:
        """Return the latest regrade that was not undone."""
        entries = self.entries()
        undone = {e.undoes for e in entries}
        return next((e for e in reversed(entries) if e.do == "apply" and e.id not in undone), None)

    def plan(self, number: str) -> Plan:
        path = self._plans / f"{number}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=Plan)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise NbgraderError(
                f"{path}: the scores before this regrade cannot be read: restore the file from a "
                "backup, or grade the week again"
            ) from None

    def unfinished(self) -> Plan | None:
        """Return the plan that was interrupted, or None."""
        done = {e.id for e in self.entries()}
        waiting = [p.stem for p in sorted(self._plans.glob("*.json")) if p.stem not in done]
        return self.plan(waiting[0]) if waiting else None

    def begin(self, plan: Plan) -> None:
        write_state(self._plans / f"{plan.id}.json", plan)

    def end(self, plan: Plan) -> None:
        """Append the line in one write, after a newline if the last line was cut off."""
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
