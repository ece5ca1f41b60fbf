"""Queue submissions from nbgrader's exchange as soon as `nbgrader submit` has written them.

Every student may write anything into the inbound folder. Folder names must have nbgrader's format.
Files are read as in `autograder collect`: only regular files of one owner and limited size, without
following links. Each student's newest submission is queued, preferably from a folder that the
student owns. A folder is rejected unless the student's account, root or the grading user owns it:
otherwise, invented names would give more attempts, and anyone could replace a submission.

A folder is complete when it contains nbgrader's two marker files and has not changed for 0.4 s.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from ..files import replace_file
from ..model.course import Course, Week
from ..model.errors import IntakeError
from ..model.submission_files import FROM_NBGRADER, SECRET_FILE, Files, format_timestamp
from ..nbgrader.collect.history import last_seen
from ..nbgrader.collect.inbound import ExchangeSubmission, is_name, submissions_by_student
from ..nbgrader.collect.safe_read import read_ordinary
from ..nbgrader.regrade.regrade_log import REQUEST, note_request
from ..nbgrader.workspace import Workspace
from .shared_state import SharedState
from .submissions.upload import is_kept
from .tables import Leader, QueuedSubmission, error_text

_QUIET = 0.4  # seconds without a change
_POLL_SECONDS = 1.0
_MAX_BYTES = 64 << 20
_MAX_SECRET = 256
REJECTED = "left in the exchange"  # this incident stays open until the service is restarted


class ExchangeInbox:
    """Watches the inbound folder and queues new submissions.

    submit: called with each new submission and its files, to store and queue them
    """

    def __init__(
        self,
        state: SharedState,
        leader: Leader,
        submit: Callable[[ExchangeSubmission, dict[str, bytes]], QueuedSubmission],
    ) -> None:
        self.courses, self.queue, self.incidents = state.courses, state.queue, state.incidents
        self._leader, self._submit = leader, submit
        self._seen: set[str] = set()  # names of folders that need no further processing

    async def run(self) -> None:
        """Queue new submissions until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.look)
                self.incidents.close("exchange")
            except FileNotFoundError:
                pass  # the folder does not exist before the first release
            except (OSError, SQLAlchemyError) as error:
                message = f"the exchange cannot be read: {error_text(error)}"
                self.incidents.open("exchange", message)
            await asyncio.sleep(_POLL_SECONDS)

    def look(self) -> bool:
        """Queue new submissions if this service leads; return True if a folder is incomplete."""
        course = self.courses.now
        folders = {path.name for path in Workspace(course).inbound.iterdir()}
        if folders <= self._seen or not self._leader.is_leader():
            return False
        incomplete = False
        for week in course.weeks:
            for found, *_ in submissions_by_student(course, week, self._seen).values():
                if not is_name(found.student) or self._take(course, week, found):
                    self._seen.add(found.source)
                else:
                    incomplete = True
        return incomplete

    def _take(self, course: Course, week: Week, found: ExchangeSubmission) -> bool:
        """Queue or reject a submission; return False if its folder is not complete yet."""
        if not found.trusted:
            self._reject(found, f"it does not belong to an account named {found.student!r}")
            return True
        if last_seen(course, week, found.student) >= format_timestamp(found.submitted):
            return True  # this or a newer submission was collected
        queued = self.queue.of_student(found.student, week.name)
        if any(s.received >= found.submitted.timestamp() for s in queued):
            return True
        source = Workspace(course).inbound / found.source
        # a modification time in the future does not delay the submission
        written = _last_written(source)
        if written is None or 0 <= time.time() - written < _QUIET:
            return False
        max_bytes = course.limits(week).submission_mib << 20
        content, _ = read_ordinary(source, ("*.pyc", ".*", "__pycache__"), max_bytes)
        if REQUEST in content:
            note_request(course, week, found.student, content[REQUEST])
        try:
            self._submit(found, dict(_kept(content)))
        except (ValueError, OverflowError, IntakeError) as error:  # invalid name, time or file
            self._reject(found, str(error))
        return True

    def _reject(self, found: ExchangeSubmission, reason: str) -> None:
        self.incidents.open(REJECTED, f"{found.source!r} was not taken: {reason}")


def _last_written(folder: Path) -> float | None:
    """Return when a file in a folder was last changed, or None if a marker file is missing."""
    try:
        entries = {e.name: e.stat(follow_symlinks=False).st_mtime for e in os.scandir(folder)}
    except OSError:
        return None
    return max(entries.values()) if entries.keys() >= set(FROM_NBGRADER) else None


def _kept(files: Files) -> Iterator[tuple[str, bytes]]:
    """Yield the files to store, up to `_MAX_BYTES` in total, without an invalid secret."""
    total = 0
    for name, content in sorted(files.items()):
        # editors do not create unprintable names, and a zip cannot store undecodable ones
        if not name.isprintable() or not is_kept(name):
            continue
        total += len(content)
        if total > _MAX_BYTES:
            return
        if name != SECRET_FILE or (len(content) <= _MAX_SECRET and content.isalnum()):
            yield name, content


def write_feedback(course: Course, week: Week, student: str, page: str, files: Files) -> None:
    """Write a preliminary page for `nbgrader fetch_feedback`, unless feedback has been released.

    files: the submitted files; nothing is written if they do not include the student's secret
    """
    workspace, secret = Workspace(course), files.get(SECRET_FILE)
    if not secret or workspace.feedback_page(student, week).is_file():
        return
    target = workspace.delivered_page(secret, week)
    if not target.parent.is_dir():
        target.parent.mkdir()
        target.parent.chmod(0o711)
    replace_file(target, page.encode(), 0o644)
