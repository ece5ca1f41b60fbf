"""The course as course.yaml has it now; while there is a mistake in it, as it was before."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from pathlib import Path

from ..model.course.loader import REGISTRY, Course, Week, load
from ..model.errors import KitError
from ..nbgrader.gradebook.database import GradebookEntry, read_gradebook
from ..nbgrader.workspace import Workspace
from .problems import Troubles

# Seconds for which what was read of the gradebook is good, and good enough while it is read again.
FRESH, _FAIR = 2.0, 10.0


class Courses:
    """Reads course.yaml again when it has changed."""

    def __init__(self, course: Course, troubles: Troubles, tick: Callable[[], float]) -> None:
        self._course, self._troubles, self._tick = course, troubles, tick
        self._changed = self._stamp()
        self._lock, self._reading = threading.Lock(), threading.Lock()
        self._gradebook: tuple[float, list[str], list[GradebookEntry]] = (float("-inf"), [], [])

    @property
    def root(self) -> Path:
        return self._course.root

    def _stamp(self) -> int:
        try:
            return (self._course.root / REGISTRY).stat().st_mtime_ns
        except OSError:
            return 0

    @property
    def now(self) -> Course:
        """Blocks for the time that reading takes."""
        with self._lock:
            stamp = self._stamp()
            if stamp != self._changed:
                try:
                    self._course = load(self._course.root)
                    self._troubles.end("course")
                except KitError as error:
                    self._troubles.begin("course", f"{error}; the course goes on as it was before")
                self._changed = stamp
            return self._course

    def week(self, name: str) -> Week | None:
        """The week of exactly that name."""
        return next((w for w in self.now.weeks if w.name == name), None)

    def open_weeks(self) -> list[Week]:
        """The weeks that were released, the one that is due next first."""
        course = self.now
        workspace, now = Workspace(course), dt.datetime.now(course.zone)
        out = [w for w in course.weeks if workspace.released(w).is_dir()]
        return sorted(out, key=lambda w: _nearness(course.localized(w.due), now))

    def gradebook(self, fair: float = _FAIR) -> tuple[list[str], list[GradebookEntry]]:
        """The students and submissions that the gradebook knows; what was read last if it fails.

        Reading takes long while nbgrader writes: only whoever comes after a pause waits for it.
        """
        age = self._tick() - self._gradebook[0]
        if age > fair:
            with self._reading:
                if self._tick() - self._gradebook[0] > fair:
                    self._read_gradebook()
        elif age > FRESH and self._reading.acquire(blocking=False):
            threading.Thread(target=self._read_beside, name="gradebook", daemon=True).start()
        _, students, entries = self._gradebook
        return students, entries

    def _read_beside(self) -> None:
        try:
            self._read_gradebook()
        finally:
            self._reading.release()

    def _read_gradebook(self) -> None:
        _, students, entries = self._gradebook
        try:
            students, entries = read_gradebook(self.now)
            self._troubles.end("gradebook")
        except KitError as error:
            self._troubles.begin("gradebook", str(error))
        self._gradebook = (self._tick(), students, entries)

    def more_time(self, student: str, week: str) -> dt.timedelta:
        """What the gradebook grants a student beyond the due date."""
        _, entries = self.gradebook()
        own = (e.extension for e in entries if (e.student, e.week) == (student, week))
        return next(own, dt.timedelta())


def _nearness(due: dt.datetime, now: dt.datetime) -> tuple[bool, float]:
    """What is due next comes first, what was due last after it."""
    return due < now, abs((due - now).total_seconds())
