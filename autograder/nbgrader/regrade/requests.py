"""Requests for a regrade: a file that students hand in, an answer that they read in their feedback.

A student writes `regrade-request.md` into the week's folder and submits the folder again. `collect`
takes the file out and keeps it (`.autograder/requests/<week>/<student>.json`). If nothing else has
changed, the submission and its time stay the same: asking costs nothing. If code or answers have
changed too, it is a new submission.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import msgspec

from ...files.atomic import replace_file
from ...model.course.loader import Course, Week
from ...model.errors import NbgraderError
from ...model.visible import visible
from ..gradebook.report_store import handed_in

REQUEST = "regrade-request.md"
_BOUND = 8192


class RegradeRequest(msgspec.Struct, frozen=True):
    """What a student asks, and what was answered. Times are ISO 8601, UTC."""

    text: str
    asked: str
    handed_in: str = ""  # the time of the hand-in that brought it, as nbgrader writes it
    answer: str = ""
    answered: str = ""


def note_request(course: Course, week: Week, student: str, data: bytes) -> bool:
    """Keep the request that arrived with a submission; return True if it is a new one."""
    text = data[:_BOUND].decode("utf-8", "replace").strip()
    known = read_request(course, week, student)
    if not text or (known is not None and known.text == text):
        return False
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    brought = handed_in(course, week, student)
    _write(course, week, student, RegradeRequest(text, now, brought))
    return True


def read_request(course: Course, week: Week, student: str) -> RegradeRequest | None:
    """A student's request; None if there is none."""
    try:
        data = _path(course, week, student).read_bytes()
        return msgspec.json.decode(data, type=RegradeRequest)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def who_asked(course: Course, week: Week) -> set[str]:
    """Who ever asked for a regrade."""
    return {p.stem for p in (course.state / "requests" / week.name).glob("*.json")}


def open_requests(course: Course, week: Week) -> dict[str, str]:
    """Whoever waits for an answer, and the first line of what they ask."""
    found = {}
    for path in sorted((course.state / "requests" / week.name).glob("*.json")):
        request = read_request(course, week, path.stem)
        if request is not None and not request.answer:
            found[path.stem] = visible(request.text.splitlines()[0])[:100]
    return found


def answer_request(course: Course, week: Week, student: str, answer: str) -> None:
    """Close a request with an answer, which stands in the student's feedback from now on."""
    request = read_request(course, week, student)
    if request is None:
        raise NbgraderError(f"{student} asked for nothing in {week.name}")
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    done = msgspec.structs.replace(request, answer=answer, answered=now)
    _write(course, week, student, done)


def answer_note(course: Course, week: Week, student: str) -> list[str]:
    """What the feedback page says about an answered request."""
    request = read_request(course, week, student)
    return [f"You asked for a regrade. {request.answer}"] if request and request.answer else []


def _path(course: Course, week: Week, student: str) -> Path:
    return course.state / "requests" / week.name / f"{student}.json"


def _write(course: Course, week: Week, student: str, request: RegradeRequest) -> None:
    path = _path(course, week, student)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(request))
