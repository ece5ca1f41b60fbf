"""The current course.yaml and gradebook; the last valid content while there is an error."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable

from ..model.course import REGISTRY, Course, Week, load
from ..model.errors import KitError
from ..nbgrader.gradebook.database import GradebookEntry, read_gradebook
from ..nbgrader.workspace import Workspace
from .incidents import Incidents

# After FRESH seconds the gradebook is read again in the background; a caller waits for that only
# if the last read is older than _MAX_AGE, because reading is slow while nbgrader writes.
FRESH, _MAX_AGE = 2.0, 10.0


class Courses:
    """Reads course.yaml again after it has changed."""

    def __init__(self, course: Course, incidents: Incidents, clock: Callable[[], float]) -> None:
        self._course, self._incidents, self._clock = course, incidents, clock
        self._modified = self._modification_time()
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._gradebook: tuple[float, list[str], list[GradebookEntry]] = (float("-inf"), [], [])

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
        """Return the week of exactly this name, or None."""
        return next((w for w in self.now.weeks if w.name == name), None)

    def open_weeks(self) -> list[Week]:
        """Return the released weeks: by due date, then those past it, the most recent first."""
        course = self.now
        workspace, now = Workspace(course), dt.datetime.now(course.zone)

        def urgency(week: Week) -> tuple[bool, dt.timedelta]:
            due = course.localized(week.due)
            return due < now, abs(due - now)

        return sorted((w for w in course.weeks if workspace.released(w).is_dir()), key=urgency)

    def gradebook(self) -> tuple[list[str], list[GradebookEntry]]:
        """Return the students and entries of the gradebook; the last known ones if it fails."""
        age = self._clock() - self._gradebook[0]
        if age > _MAX_AGE:
            with self._reading:
                if self._clock() - self._gradebook[0] > _MAX_AGE:
                    self._read_gradebook()
        elif age > FRESH and self._reading.acquire(blocking=False):
            threading.Thread(target=self._refresh, name="gradebook", daemon=True).start()
        _, students, entries = self._gradebook
        return students, entries

    def _refresh(self) -> None:
        try:
            self._read_gradebook()
        finally:
            self._reading.release()

    def _read_gradebook(self) -> None:
        _, students, entries = self._gradebook
        try:
            students, entries = read_gradebook(self.now)
            self._incidents.close("gradebook")
        except KitError as error:
            self._incidents.open("gradebook", str(error))
        self._gradebook = (self._clock(), students, entries)

    def extension(self, student: str, week: str) -> dt.timedelta:
        """Return the extra time that the gradebook grants a student beyond the due date."""
        _, entries = self.gradebook()
        own = (e.extension for e in entries if (e.student, e.week) == (student, week))
        return next(own, dt.timedelta())
