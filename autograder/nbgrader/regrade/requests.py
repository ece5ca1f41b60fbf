"""Regrade requests: a file that students submit, answered in their feedback.

A student writes `regrade-request.md` into the week's folder and submits the folder again. `collect`
stores the request (`.autograder/requests/<week>/<student>.json`). If nothing else has changed, the
submission and its time stay the same, so a request has no cost. If code or answers have changed
too, it is a new submission.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec

from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import visible
from ..gradebook.report_store import handed_in
from ..state_files import read_state, write_state

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


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _path(course: Course, week: Week, student: str) -> Path:
    return course.state / "requests" / week.name / f"{student}.json"
