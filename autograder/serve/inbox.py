"""nbgrader's exchange: what `nbgrader submit` leaves there is graded at once.

Every student may write into the inbound folder, in whatever way. Names are taken apart by
nbgrader's rule and checked; files are copied as `collect` copies them: ordinary ones, of one owner,
bounded. Of a student's hand-ins the newest is taken, their own before what another user left under
their name. What another user left, or may have left because the student has no account on this
machine, is not taken: it could use made-up names for further attempts, or replace a submission.

The folder is watched; where nothing is told of changes, as on some network disks, it is also looked
at every minute. A folder is taken once it has nbgrader's two files and has been quiet for a moment.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import os
import pwd
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from ..batch.intake import is_wanted
from ..files.workfolder import WorkFolder
from ..model.course import Course, Week
from ..model.errors import IntakeError
from ..model.timestamps import format_timestamp, parse_timestamp
from ..nbgrader.again import names
from ..nbgrader.history import last_seen
from ..nbgrader.ordinary import copy_ordinary
from ..nbgrader.workspace import Workspace
from .chair import Chair
from .courses import Courses
from .people import is_name
from .queue import Queue, Try
from .troubles import Troubles

_SECRET = "submission_secret.txt"
_MARKS = ("timestamp.txt", _SECRET)
_QUIET = 0.4  # seconds without a change
_LOOK = 60.0
_MOST_BYTES = 64 << 20
_NOT_TAKEN = "left in the exchange"  # stands until the service is started again


class FoundHandIn(msgspec.Struct, frozen=True):
    """A folder in the exchange, by its name."""

    source: str
    student: str
    week: str
    handed_in: dt.datetime
    own: bool  # the student owns it
    sure: bool  # the student owns it, or whoever grades


class Inbox:
    """Takes what appears in the exchange into the queue."""

    def __init__(
        self,
        courses: Courses,
        queue: Queue,
        troubles: Troubles,
        chair: Chair,
        take: Callable[[FoundHandIn, dict[str, bytes]], Try],
    ) -> None:
        self.courses, self.queue, self.troubles = courses, queue, troubles
        self._chair = chair
        self._take = take
        self._left: set[str] = set()  # what was looked at and is not to be taken

    async def run(self) -> None:
        """Look, and look again whenever something changes."""
        from watchfiles import awatch

        while True:
            await self._looked()
            folder = self._folder(self.courses.now)
            if not folder.is_dir():
                await asyncio.sleep(_LOOK / 12)
                continue
            try:
                changes = awatch(
                    folder,
                    recursive=True,
                    step=100,
                    debounce=int(_QUIET * 1000),
                    rust_timeout=int(_LOOK * 1000),
                    yield_on_timeout=True,
                )
                async for _ in changes:
                    await self._looked()
            except OSError as error:  # too many are watched, or the folder is gone
                self.troubles.begin("exchange", f"{folder} cannot be watched: {error}")
                await asyncio.sleep(_LOOK / 12)

    async def _looked(self) -> None:
        """Take what is there, again while something is not whole yet."""
        for _ in range(50):
            try:
                unfinished = await asyncio.to_thread(self.look)
            except (OSError, SQLAlchemyError) as error:
                self.troubles.begin("exchange", f"the exchange cannot be taken from: {error}")
                return
            self.troubles.end("exchange")
            if not unfinished:
                return
            await asyncio.sleep(_QUIET)

    def look(self) -> bool:
        """Take every student's newest hand-in that is not known; return whether some is unfinished.

        Blocks.
        """
        if not self._chair.taken():
            return False
        course = self.courses.now
        known = self.queue.known_sources() | self._left
        unfinished = False
        for week in course.weeks:
            for found in newest(course, week):
                if found.source in known:
                    continue
                if not found.sure:
                    self._left.add(found.source)
                    said = f"{found.source!r} does not belong to an account {found.student!r}"
                    self.troubles.begin(_NOT_TAKEN, f"{said}: it is not taken")
                elif self._is_known_otherwise(course, week, found):
                    self._left.add(found.source)
                elif not self._taken(course, week, found):
                    unfinished = True
        return unfinished

    def _is_known_otherwise(self, course: Course, week: Week, found: FoundHandIn) -> bool:
        """Return whether what was collected, or handed in here, is as new."""
        if last_seen(course, week, found.student) >= format_timestamp(found.handed_in):
            return True
        tries = self.queue.of(found.student, week.name)
        return any(one.received >= found.handed_in.timestamp() for one in tries)

    def _taken(self, course: Course, week: Week, found: FoundHandIn) -> bool:
        """Copy a folder and hand it in; False if it is not whole yet."""
        source = self._folder(course) / found.source
        before = _state(source)
        # files of a time to come are compared below
        if before is None or 0 <= time.time() - before[1] < _QUIET:
            return False
        bound = course.limits(week).submission_mib << 20
        with closing(WorkFolder()) as place:
            copy = place.path / week.name
            copy_ordinary(source, copy, ("*.pyc", ".*", "__pycache__"), bound)
            files = dict(_files(copy))
        if _state(source) != before:
            return False
        secret = _secret(source)
        if secret:
            files[_SECRET] = secret
        try:
            self._take(found, files)
        except (IntakeError, ValueError, OverflowError) as error:  # names and times that are none
            self._left.add(found.source)
            self.troubles.begin(_NOT_TAKEN, f"{found.source!r}: {error}")
        return True

    def _folder(self, course: Course) -> Path:
        return Workspace(course).exchange / course.id / "inbound"


def newest(course: Course, week: Week) -> Iterator[FoundHandIn]:
    """Each student's newest hand-in of a week, their own first."""
    workspace = Workspace(course)
    by_student: dict[str, FoundHandIn] = {}
    for name in names(workspace, week):
        for path in (workspace.exchange / course.id / "inbound").glob(f"*+{name}+*"):
            found = _found(path, name, week)
            if found is None:
                continue
            other = by_student.get(found.student)
            if other is None or (found.own, found.handed_in) > (other.own, other.handed_in):
                by_student[found.student] = found
    yield from by_student.values()


def _found(path: Path, name: str, week: Week) -> FoundHandIn | None:
    student, _, rest = path.name.partition(f"+{name}+")
    try:
        owner = os.lstat(path).st_uid
    except (OSError, ValueError):
        return None
    moment = parse_timestamp(rest.split("+")[0])
    if moment is None:
        return None
    if not path.name.isprintable() or not is_name(student):
        return None
    if path.is_symlink() or not path.is_dir():
        return None
    account = _account(student)
    sure = owner in (account, 0, os.geteuid())
    return FoundHandIn(path.name, student, week.name, moment, owner == account, sure)


def _account(student: str) -> int | None:
    """The user id of a student who has an account here, and not one of a Hub's own."""
    try:
        return pwd.getpwnam(student).pw_uid
    except (KeyError, ValueError):
        return None


def _state(folder: Path) -> tuple[tuple[str, ...], float] | None:
    """The files that lie in a folder, and when one changed last; None if it is not whole."""
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
        times = [e.stat(follow_symlinks=False).st_mtime for e in entries]
    except OSError:
        return None
    found = tuple(e.name for e in entries)
    return (found, max(times)) if all(mark in found for mark in _MARKS) else None


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    total = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        # a name that is no text was not made by a student's editor, and no zip can hold it
        wanted = name.isprintable() and (is_wanted(path.name) or path.suffix == ".ipynb")
        if path.is_file() and wanted and name not in _MARKS:
            total += path.stat().st_size
            if total > _MOST_BYTES:
                return
            yield name, path.read_bytes()


def _secret(folder: Path) -> bytes:
    """By which the student finds the feedback; nbgrader writes 128 letters."""
    try:
        descriptor = os.open(folder / _SECRET, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            secret = file.read(257)
    except OSError:
        return b""
    return secret if len(secret) <= 256 and secret.isalnum() else b""


def handed_back(course: Course, week: Week, one: Try, page: str, content: dict[str, bytes]) -> None:
    """Lay a page where `nbgrader fetch_feedback` finds it for what came through the exchange.

    Nothing is laid over feedback that was returned.
    """
    workspace = Workspace(course)
    secret = content.get(_SECRET)
    if not secret or workspace.feedback_page(one.student, week).is_file():
        return
    folder = workspace.exchange / course.id / "feedback"
    if not folder.is_dir():
        folder.mkdir()
        folder.chmod(0o711)
    name = hashlib.md5(secret + week.name.encode(), usedforsecurity=False).hexdigest()
    fresh = folder / f".{name}.new"
    fresh.write_text(page, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(folder / f"{name}.html")
