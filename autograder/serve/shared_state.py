"""Settings of the service, and the state that its parts share: the course and open incidents.

If course.yaml or the gradebook cannot be read, `Courses` uses the last version that could be read.
"""

import datetime as dt
import os
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ..batch.cluster import Cluster
from ..model.course import REGISTRY, Course, Week, load
from ..model.errors import KitError
from ..nbgrader.gradebook.database import GradebookEntry, read_gradebook
from ..nbgrader.workspace import Workspace
from .queue import Queue


class Incident(msgspec.Struct, frozen=True):
    """A problem that the class page reports. `since`: when it began (seconds since the epoch)."""

    since: float
    message: str


class Incidents:
    """The open incidents, at most one of each kind. New incidents are printed to stderr."""

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


# Seconds for which the gradebook's content is cached. While one thread reads the gradebook again,
# other threads use the cached content, because reading is slow while nbgrader writes.
_FRESH = 5.0


class Courses:
    """The course, reloaded when course.yaml changes, and the extensions in the gradebook."""

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
        """Return the course, reloading course.yaml if it has changed. This may block."""
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
        """Return the week with exactly this name, or None if course.yaml has no such week."""
        return next((w for w in self.now.weeks if w.name == name), None)

    def open_weeks(self) -> list[Week]:
        """Return the released weeks.

        Weeks that are not due yet come first, soonest first. Past weeks follow, latest first.
        """
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
        """Return the gradebook's entries, cached for `_FRESH` seconds or until they can be read."""
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


class Address(msgspec.Struct, frozen=True):
    """The address on which the service listens, and the URL that browsers use.

    insecure: allow other machines to connect without https
    hub: the service was started by a JupyterHub
    """

    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = ""  # default: host and port
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False
    hub: bool = False

    @property
    def secure(self) -> bool:
        return self.certificate is not None or urlsplit(self.public_url).scheme == "https"

    @property
    def prefix(self) -> str:
        """Return the common prefix of all URL paths. It starts and ends with a slash."""
        path = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/") if self.hub else ""
        path = path or urlsplit(self.public_url).path
        return f"/{path.strip('/')}/" if path.strip("/") else "/"

    @property
    def url(self) -> str:
        scheme = "https" if self.secure else "http"
        return self.public_url or f"{scheme}://{self.host}:{self.port}{self.prefix}"


class Settings(msgspec.Struct, frozen=True):
    """The settings of the service, from the options of `autograder serve`."""

    address: Address = Address()
    database: str = ""  # a URL; default: SQLite in the project's private folder
    processes: int = 0  # default: one per core
    process_mib: int = 0  # limit per process; default: half of the memory, divided equally
    niceness: int = 10  # of child processes, so that they do not slow down requests
    devices: tuple[str, ...] = ("cpu",)
    sandbox: str = "bubblewrap"
    cluster: Cluster | None = None
    instructors: tuple[str, ...] = ()  # on a JupyterHub: NAME or group:NAME
    assistants: tuple[str, ...] = ()


class SharedState(msgspec.Struct, frozen=True):
    """The objects that all parts of a service use."""

    settings: Settings
    courses: Courses
    queue: Queue
    incidents: Incidents
