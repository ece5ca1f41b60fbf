"""A log of regrades: who changed which scores, when and why, and how to undo it.

`.autograder/regrades/<week>.jsonl` is the log, an append-only file with a line per regrade and per
undo. In the folder `<week>/`, each regrade's plan has the reports before and after. A plan is
written before the gradebook changes and its log line after everything else, so a plan without a
line was interrupted: it is completed before the next regrade.
"""

from __future__ import annotations

import datetime as dt
import getpass
import os
from contextlib import AbstractContextManager
from typing import Literal

import msgspec
from msgspec import field

from ...files.workfolder import alone
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


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _new_id() -> str:
    return f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S%f}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user id without a name
        return "unknown"


class _Regrade(msgspec.Struct, frozen=True, kw_only=True):
    """A regrade, or the undo of a regrade."""

    id: str = field(default_factory=_new_id)
    week: str
    do: Literal["apply", "undo"]
    at: str = field(default_factory=_now)
    who: str = field(default_factory=_user)
    reason: str
    graders: str  # a hash of everything that the new scores depend on, except the submissions
    undoes: str = ""


class Plan(_Regrade, frozen=True, kw_only=True):
    """A regrade with the reports before and after."""

    changes: tuple[ScoreChange, ...]


class LogEntry(_Regrade, frozen=True, kw_only=True):
    """One line of the log."""

    students: dict[str, dict[str, tuple[float | None, float]]]  # exercise -> old and new score


class RegradeLog:
    """The log and the plans of one week."""

    def __init__(self, course: Course, week: Week) -> None:
        folder = course.state / "regrades"
        self.path = folder / f"{week.name}.jsonl"
        self._plans = folder / week.name

    def alone(self) -> AbstractContextManager[None]:
        """Lock the week; raise NbgraderError if a regrade is running."""
        busy = NbgraderError("another regrade of this week is running: wait until it is finished")
        return alone(self._plans / "lock", busy)

    def entries(self) -> list[LogEntry]:
        """Return the log, oldest first, without lines that an interruption cut off."""
        found = []
        lines = self.path.read_bytes().split(b"\n") if self.path.is_file() else []
        for line in lines:
            try:
                found.append(msgspec.json.decode(line, type=LogEntry))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue
        return found

    def last(self) -> LogEntry | None:
        """Return the latest regrade that was not undone, or None."""
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
        """Append the plan's line in one write, newline first: the last line may be cut off."""
        students = {
            c.student: {name: (c.old_scores.get(name), new) for name, new in c.new_scores.items()}
            for c in plan.changes
        }
        common = {f: getattr(plan, f) for f in _Regrade.__struct_fields__}
        with self.path.open("ab") as file:
            file.write(b"\n" + msgspec.json.encode(LogEntry(**common, students=students)))
            file.flush()
            os.fsync(file.fileno())
        self.path.chmod(0o600)
