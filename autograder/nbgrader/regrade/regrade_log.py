"""Regrade requests, and a log of regrades: who changed which scores, when and why.

`.autograder/regrades/<week>.jsonl` is the log, an append-only file with a line per regrade and per
undo. In the folder `<week>/`, each regrade's plan has the reports before and after. A plan is
written before the gradebook changes and its log line after everything else, so a plan without a
line was interrupted: it is completed before the next regrade.

A student requests a regrade by submitting the folder again with a `regrade-request.md`. `collect`
stores it in `.autograder/requests/<week>/<student>.json`. A request without any other change keeps
the submission and its time, so it has no cost.
"""

from __future__ import annotations

import datetime as dt
import getpass
import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import field

from ...files import alone
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import visible
from ..gradebook.report_store import Recorded, handed_in
from ..workspace import read_state, write_state

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


REQUEST = "regrade-request.md"
_MAX_BYTES = 8192


class RegradeRequest(msgspec.Struct, frozen=True):
    """A request and its answer. Times are ISO 8601, UTC."""

    text: str
    asked: str
    handed_in: str = ""  # the time of the submission that contained it, in nbgrader's format
    answer: str = ""
    answered: str = ""


def note_request(course: Course, week: Week, student: str, data: bytes) -> bool:
    """Store the request that arrived with a submission; return True if it is new."""
    text = data[:_MAX_BYTES].decode("utf-8", "replace").strip()
    known = read_request(course, week, student)
    if not text or (known is not None and known.text == text):
        return False
    request = RegradeRequest(text, _now(), handed_in(course, week, student))
    write_state(_path(course, week, student), request)
    return True


def read_request(course: Course, week: Week, student: str) -> RegradeRequest | None:
    return read_state(_path(course, week, student), RegradeRequest)


def open_requests(course: Course, week: Week) -> dict[str, str]:
    """Return the first line of every unanswered request, by student."""
    found = {}
    for path in sorted((course.state / "requests" / week.name).glob("*.json")):
        request = read_request(course, week, path.stem)
        if request is not None and not request.answer:
            found[path.stem] = visible(request.text.splitlines()[0])[:100]
    return found


def answer_request(course: Course, week: Week, student: str, answer: str) -> None:
    """Close a request with an answer that the student's feedback shows."""
    request = read_request(course, week, student)
    if request is None:
        raise NbgraderError(f"{student} has not requested a regrade of {week.name}")
    answered = msgspec.structs.replace(request, answer=answer, answered=_now())
    write_state(_path(course, week, student), answered)


def answer_note(course: Course, week: Week, student: str) -> list[str]:
    """Return the lines of the feedback page about an answered request, if any."""
    request = read_request(course, week, student)
    return [f"You asked for a regrade. {request.answer}"] if request and request.answer else []


def _path(course: Course, week: Week, student: str) -> Path:
    return course.state / "requests" / week.name / f"{student}.json"
