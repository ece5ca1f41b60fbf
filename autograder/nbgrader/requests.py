"""Requests for a regrade: a file that students hand in, an answer that they read in their feedback.

A student writes `regrade-request.md` into the week's folder and submits the folder again. `collect`
takes the file out and keeps it (`.autograder/requests/<week>/<student>.json`). If nothing else has
changed, the hand-in stays the one that it was, with its time: to ask costs nothing. If code or
answers have changed too, it is a new hand-in, as always.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..files.atomic import replace_file
from ..model.course import Course, Week
from ..model.errors import NbgraderError
from ..model.visible import visible
from .notebooks import read_cells
from .recorded import handed_in, kept_report, submission_of
from .submitted import read_notebook
from .workspace import Workspace

REQUEST = "regrade-request.md"
_BOUND = 8192


class RegradeRequest(msgspec.Struct, frozen=True):
    """What a student asks, and what was answered. Times are ISO 8601, UTC."""

    text: str
    asked: str
    handed_in: str = ""  # the time of the hand-in that brought it, as nbgrader writes it
    answer: str = ""
    answered: str = ""


def take_requests(course: Course, week: Week, students: list[str]) -> list[str]:
    """Take the requests out of what was just collected; who asks."""
    asking = []
    for student in students:
        folder = Workspace(course).submitted(student, week)
        path = folder / REQUEST
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_bytes()[:_BOUND].decode("utf-8", "replace").strip()
        path.unlink()
        if not text:
            continue
        known = read_request(course, week, student)
        if known is None or known.text != text:
            now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            brought = handed_in(course, week, student)
            _write(course, week, student, RegradeRequest(text, now, brought))
            asking.append(student)
        _keep_time(course, week, student, folder)
    return asking


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


def _keep_time(course: Course, week: Week, student: str, folder: Path) -> None:
    """Give an unchanged hand-in the time back that it had when it was graded."""
    before = kept_report(course, week, student)
    if before is None or not before.handed_in:
        return
    if submission_of(course, week, student).content != before.content:
        return
    graded = Workspace(course).autograded(student, week) / f"{week.name}.ipynb"
    if _answers(_as_graded(course, week, folder)) == _answers(read_cells(graded)):
        (folder / "timestamp.txt").write_text(before.handed_in, encoding="utf-8")


def _as_graded(course: Course, week: Week, folder: Path) -> list[dict[str, Any]]:
    """The cells of what was handed in, mended as they are before they are graded."""
    from .restore import restored  # nbgrader takes a second, and few ask

    name = f"{week.name}.ipynb"
    try:
        own = read_notebook(folder / name)
        return list(restored(own, read_notebook(Workspace(course).released(week) / name)).cells)
    except Exception:  # nbformat raises whatever a damaged file makes it stumble over
        return []


def _answers(cells: Sequence[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """The text of the answers in a notebook, and the pictures in them."""
    found: dict[str, tuple[str, str]] = {}
    for cell in cells:
        metadata = cell.get("metadata")
        about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        if isinstance(about, dict) and about.get("solution"):
            source = cell.get("source", "")
            text = "".join(source) if isinstance(source, list) else str(source)
            pictures = json.dumps(cell.get("attachments"), sort_keys=True)
            found.setdefault(str(about.get("grade_id")), (text, pictures))
    return found


def _path(course: Course, week: Week, student: str) -> Path:
    return course.state / "requests" / week.name / f"{student}.json"


def _write(course: Course, week: Week, student: str, request: RegradeRequest) -> None:
    path = _path(course, week, student)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replace_file(path, msgspec.json.encode(request))
