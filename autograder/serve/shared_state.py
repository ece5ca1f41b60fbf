"""The service's settings, and the objects that all its parts share: incidents and the course.

`Courses` returns the current course.yaml and gradebook, or their last valid content while they are
unreadable.
"""

from __future__ import annotations

import datetime as dt
import sys
import threading
import time
from dataclasses import dataclass

import msgspec

from ..batch.cluster import Cluster
from ..model.course import REGISTRY, Course, Week, load
from ..model.errors import KitError
from ..nbgrader.gradebook.database import GradebookEntry, read_gradebook
from ..nbgrader.workspace import Workspace
from .queue.queue import Queue


class Incident(msgspec.Struct, frozen=True):
    """A problem, and when it began (seconds since the epoch)."""

    since: float
    message: str


class Incidents:
    """Open incidents by kind. Each is printed to standard error when it begins."""

    def __init__(self) -> None:
        self.current: dict[str, Incident] = {}

    def open(self, kind: str, message: str) -> None:
        known = self.current.get(kind)
        if known is None or known.message != message:
            print(f"WARNING  {message}", file=sys.stderr, flush=True)
        self.current[kind] = Incident(known.since if known else time.time(), message)

    def close(self, kind: str) -> None:
        if self.current.pop(kind, None) is not None:
            print(f"  resolved: {kind}", file=sys.stderr, flush=True)


# Seconds after which one caller reads the gradebook again. Other callers do not wait for it,
# because reading is slow while nbgrader writes.
_FRESH = 5.0


class Courses:
    """Reads course.yaml again after it has changed."""

    def __init__(self, course: Course, incidents: Incidents) -> None:
        self._course, self._incidents = course, incidents
        self._modified = self._modification_time()
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._entries: list[GradebookEntry] = []
        self._read_at = float("-inf")
        self._gradebook()

    def _modification_time(self) -> int:
        try:
            return (self._course.root / REGISTRY).stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def now(self) -> Course:
        """Return the course; blocks while course.yaml is read."""
        with self._lock:
            modified = self._modification_time()
            if modified != self._modified:
                try:
                    self._course = load(self._course.root)
                    self._incidents.close("course")
                except KitError as error:
                    self._incidents.open("course", f"{error}; the last valid version is used")
                self._modified = modified
            return self._course

    def week(self, name: str) -> Week | None:
        """Return the week with exactly this name, or None."""
        return next((w for w in self.now.weeks if w.name == name), None)

    def open_weeks(self) -> list[Week]:
        """Return the released weeks: first those not yet due, then the others, latest first."""
        course = self.now
        workspace, now = Workspace(course), dt.datetime.now(course.zone)

        def urgency(week: Week) -> tuple[bool, dt.timedelta]:
            due = course.localized(week.due)
            return due < now, abs(due - now)

        return sorted((w for w in course.weeks if workspace.released(w).is_dir()), key=urgency)

    def extension(self, student: str, week: str) -> dt.timedelta:
        """Return the extra time that the gradebook grants a student beyond the due date."""
        own = (e.extension for e in self._gradebook() if (e.student, e.week) == (student, week))
        return next(own, dt.timedelta())

    def _gradebook(self) -> list[GradebookEntry]:
        """Return the gradebook's entries, or the last known ones while they cannot be read."""
        if time.monotonic() - self._read_at > _FRESH and self._reading.acquire(blocking=False):
            try:
                _, self._entries = read_gradebook(self.now)
                self._incidents.close("gradebook")
            except KitError as error:
                self._incidents.open("gradebook", str(error))
            finally:
                self._read_at = time.monotonic()
                self._reading.release()
        return self._entries


class Settings(msgspec.Struct, frozen=True):
    """The settings of the service."""

    prefix: str = "/"  # prefix of every path
    secure: bool = False  # reached over https
    address: str = ""  # host and port that browsers use
    database: str = ""  # a URL; default: a file in the project's private folder
    processes: int = 0  # default: one per core
    process_mib: int = 0  # default: half of the memory, divided among the processes
    niceness: int = 10  # of grading processes
    devices: tuple[str, ...] = ("cpu",)
    sandbox: str = "bubblewrap"
    cluster: Cluster | None = None
    instructors: tuple[str, ...] = ()  # on a JupyterHub: NAME or group:NAME


@dataclass(frozen=True)
class SharedState:
    """The shared objects of a service."""

    settings: Settings
    courses: Courses
    queue: Queue
    incidents: Incidents
