"""Lay out weeks in the learner's folder, and store the learner's progress in `.progress` there.

Each week has one record, which is replaced atomically. A damaged record is renamed.
"""

import contextlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ..authoring.lesson.handout import ANSWER, week_files
from ..files import replace_file, write_files, write_state
from ..model.course import Course, Week
from ..model.errors import KitError
from ..model.report.schema import Ending, SubmissionReport
from ..nbgrader.collect.notebooks import first_cells, read_cells, source_of
from ..student.folder.week import DESCRIPTION, WeekFolder, open_folder

STATE, FIGURES = ".progress", "figures"


class WeekRecord(msgspec.Struct):
    """The progress in a week.

    report:   the result of the last version of the module that could be graded
    passed:   exercises that earned full points before their solution was opened
    given_up: exercises and questions whose solution was opened without passing or answering
    opened:   questions whose model answer is open
    met:      for each assessed question, the indices of the rubric's lines that the answer meets
    visited:  when the week's page was last opened (seconds since the epoch); 0 if never
    """

    report: SubmissionReport | None = None
    passed: list[str] = []
    given_up: list[str] = []
    opened: list[str] = []
    met: dict[str, list[int]] = {}
    visited: float = 0.0

    def give_up(self, task: str) -> None:
        if not self.shows_solution(task):
            self.given_up.append(task)

    def shows_solution(self, task: str) -> bool:
        return task in (*self.passed, *self.given_up, *self.opened)


class LearnerFolder:
    """The folder with the learner's weeks and progress. Its methods may run in any thread.

    key: a random key, which stays the same when the pages are restarted
    Raise KitError if the folder is part of the course or cannot be written.
    """

    def __init__(self, course: Course, path: Path) -> None:
        self.course, self.path, self.state = course, path.resolve(), path.resolve() / STATE
        for part in ("exercises", "solutions", "autograder"):
            if self.path.is_relative_to(course.root.resolve() / part):
                raise KitError(f"{path} is part of the course: choose a different --folder")
        self._records: dict[str, WeekRecord] = {}
        self._complete: set[str] = set()
        self._lock = threading.RLock()
        with self._writing():
            self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.state / FIGURES).mkdir(exist_ok=True)
            key = self.state / "key"
            self.key = key.read_text() if key.is_file() else secrets.token_urlsafe(24)
            replace_file(key, self.key.encode())

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise KitError(
                f"{error.filename or self.path} cannot be written: {error.strerror}. Make "
                f"{self.path} writable, or choose a different --folder"
            ) from None

    def week(self, week: Week) -> WeekFolder:
        """Return the folder of a week; restore its missing files, except a deleted module."""
        path = self.path / week.name
        with self._lock, self._writing():
            if week.name not in self._complete or not (path / f"{week.name}.ipynb").is_file():
                files = week_files(self.course, week)
                if (path / DESCRIPTION).is_file():
                    del files[week.module]  # the learner may have deleted it
                present = {n for n in files if n != DESCRIPTION and (path / n).exists()}
                write_files(path, {n: data for n, data in files.items() if n not in present})
                self._complete.add(week.name)
        return open_folder(path)

    def record(self, week: Week) -> WeekRecord:
        with self._lock:
            if week.name not in self._records:
                self._records[week.name] = self._read(self.state / f"{week.name}.json")
            return self._records[week.name]

    @contextmanager
    def changing(self, week: Week) -> Iterator[WeekRecord]:
        """Yield the record of a week, and store it afterwards."""
        with self._lock, self._writing():
            record = self.record(week)
            del self._records[week.name]  # read again if the change cannot be stored
            yield record
            write_state(self.state / f"{week.name}.json", record)
            self._records[week.name] = record

    def visit(self, week: Week) -> None:
        """Store that the week's page was opened, at most once a minute."""
        if time.time() - self.record(week).visited > 60:
            with self.changing(week) as record:
                record.visited = time.time()

    def add_report(self, week: Week, report: SubmissionReport) -> None:
        """Store the result of a graded version, and its exercises with full points as passed."""
        if report.verdict is Ending.GRADED:
            with self.changing(week) as record:
                record.report = report
                full = [e.name for e in report.exercises if e.max_score and e.score >= e.max_score]
                record.passed += [name for name in full if not record.shows_solution(name)]

    def answers(self, week: Week) -> dict[str, str]:
        """Return the learner's answers in the notebook, by question; without unwritten answers."""
        cells = first_cells(read_cells(self.path / week.name / f"{week.name}.ipynb"))
        texts = {q.name: source_of(cells[q.name]) for q in week.questions if q.name in cells}
        return {name: text for name, text in texts.items() if text.strip() not in ("", ANSWER)}

    def _read(self, path: Path) -> WeekRecord:
        try:
            return msgspec.json.decode(path.read_bytes(), type=WeekRecord)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            with contextlib.suppress(OSError):
                path.replace(path.with_suffix(".damaged"))
        except FileNotFoundError:
            pass
        return WeekRecord()
