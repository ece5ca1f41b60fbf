"""Record who changed which scores, when and why, and store students' regrade requests.

The folder `.autograder/regrades/<week>/` has a file for each regrade and each undo, with the scores
and reports before and after. The file is called `unfinished` until the gradebook, reports and
notebooks are written, so an interrupted regrade is detected and completed before the next one.

Students request a regrade on the service's page, or by submitting their folder again with a
`regrade-request.md`. The service and `collect` store the request in
`.autograder/requests/<week>/<student>.json`. If nothing else has changed, the earlier submission
and its time stay.
"""

import datetime as dt
import getpass
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
from msgspec import field

from ...files import alone, read_state, write_state
from ...model.course import Course, Week
from ...model.errors import NbgraderError
from ...model.message_text import visible
from ..gradebook.report_store import Recorded


class ScoreChange(msgspec.Struct, frozen=True):
    """One student's scores (by exercise) and reports before and after a regrade."""

    student: str
    old_scores: dict[str, float | None]  # from the gradebook
    new_scores: dict[str, float]
    old: Recorded
    new: Recorded


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # this user id has no name
        return "unknown"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A regrade, or the undo of a regrade."""

    id: str = field(default_factory=lambda: f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S%f}")
    week: str
    undoes: str = ""  # id of the regrade that this plan undoes, or "" if it is a regrade
    at: str = field(default_factory=_now)
    who: str = field(default_factory=_user)
    reason: str
    graders: str  # a hash of everything that the new scores depend on, except the submissions
    changes: tuple[ScoreChange, ...]


class RegradeLog:
    """The regrades of one week."""

    def __init__(self, course: Course, week: Week) -> None:
        self.folder = course.state / "regrades" / week.name
        self._unfinished = self.folder / "unfinished"

    def alone(self) -> AbstractContextManager[None]:
        """Lock the week; raise NbgraderError if another regrade of the week is running."""
        busy = NbgraderError("another regrade of this week is running: wait until it is finished")
        return alone(self.folder / "lock", busy)

    def entries(self) -> list[Plan]:
        """Return the completed regrades and undos, oldest first."""
        plans = map(self._read, sorted(self.folder.glob("*.json")))
        return [plan for plan in plans if plan is not None]

    def last(self) -> Plan | None:
        """Return the latest regrade that was not undone, or None if there is no such regrade."""
        entries = self.entries()
        undone = {e.undoes for e in entries}
        return next((e for e in reversed(entries) if not e.undoes and e.id not in undone), None)

    def unfinished(self) -> Plan | None:
        """Return the interrupted regrade or undo, or None if every plan was completed."""
        return self._read(self._unfinished)

    def _read(self, path: Path) -> Plan | None:
        damaged = NbgraderError(
            f"{path}: the scores before this regrade cannot be read: restore the file from a "
            "backup, or grade the week again"
        )
        return read_state(path, Plan, damaged)

    def begin(self, plan: Plan) -> None:
        write_state(self._unfinished, plan)

    def end(self, plan: Plan) -> None:
        self._unfinished.replace(self.folder / f"{plan.id}.json")


REQUEST = "regrade-request.md"
MAX_REQUEST_BYTES = 8192


class RegradeRequest(msgspec.Struct, frozen=True):
    """A regrade request and its answer. Times are ISO 8601, UTC.

    about: an exercise or a question, or "" for the week. answered_by: a user of the service
    earlier: the student's answered requests for the week, oldest first
    """

    text: str
    asked: str
    answer: str = ""
    answered: str = ""
    about: str = ""
    answered_by: str = ""
    earlier: tuple["RegradeRequest", ...] = ()


def note_request(course: Course, week: Week, student: str, data: bytes, about: str = "") -> bool:
    """Store a student's regrade request, which replaces an unanswered one.

    Return False if the text is empty or already stored.
    """
    text = data[:MAX_REQUEST_BYTES].decode("utf-8", "replace").strip()
    known = read_request(course, week, student)
    if not text or (known is not None and (known.text, known.about) == (text, about)):
        return False
    earlier: tuple[RegradeRequest, ...] = ()
    if known is not None:
        answered = (msgspec.structs.replace(known, earlier=()),) if known.answer else ()
        earlier = (*known.earlier, *answered)
    request = RegradeRequest(text, _now(), about=about, earlier=earlier)
    write_state(_path(course, week, student), request)
    return True


def read_request(course: Course, week: Week, student: str) -> RegradeRequest | None:
    return read_state(_path(course, week, student), RegradeRequest)


def read_requests(course: Course, week: Week) -> dict[str, RegradeRequest]:
    """Return each student's newest request for a week."""
    paths = sorted(requests_folder(course, week).glob("*.json"))
    found = ((path.stem, read_state(path, RegradeRequest)) for path in paths)
    return {student: request for student, request in found if request is not None}


def open_requests(course: Course, week: Week) -> dict[str, str]:
    """Return the first line of every unanswered request, by student."""
    return {
        student: visible(request.text.splitlines()[0])[:100]
        for student, request in read_requests(course, week).items()
        if not request.answer
    }


def answer_request(course: Course, week: Week, student: str, answer: str, who: str = "") -> None:
    """Store the answer of `who`, which closes the request and is shown in the feedback.

    Raise NbgraderError if the student has not requested a regrade.
    """
    request = read_request(course, week, student)
    if request is None:
        raise NbgraderError(f"{student} has not requested a regrade of {week.name}")
    answered = msgspec.structs.replace(request, answer=answer, answered=_now(), answered_by=who)
    write_state(_path(course, week, student), answered)


def answer_note(course: Course, week: Week, student: str) -> list[str]:
    """Return a list with the feedback page's note about an answered request, or []."""
    request = read_request(course, week, student)
    return [f"You asked for a regrade. {request.answer}"] if request and request.answer else []


def requests_folder(course: Course, week: Week) -> Path:
    return course.state / "requests" / week.name


def _path(course: Course, week: Week, student: str) -> Path:
    return requests_folder(course, week) / f"{student}.json"
