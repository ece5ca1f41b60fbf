"""Grade a week's module after each save, in a child process that keeps a warm engine.

The child process is that of `autograder serve`. While it grades, further saves of the same week are
combined, so that the newest version is graded next.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import psutil
from watchfiles import Change, awatch

from ..batch.grade import sandbox_name
from ..batch.intake import IGNORED_FOLDERS, Submission, read_submission
from ..model.availability import axis
from ..model.course import Week
from ..model.course.bank import Bank
from ..model.errors import KitError, SandboxMissing
from ..model.report.schema import Ending, SubmissionReport
from ..model.submission_files import digest_of
from ..serve.grading_process import GradingProcess, PreparedSubmission
from ..serve.shared_state import Settings
from .learner_record import STATE, LearnerFolder
from .own_figures import are_drawn, draw_own_figures
from .progress_view import open_tasks

_SECONDS = 180.0  # limit of one grading, including the start of the engine
_MIN_MIB = 2048
_POLL = 0.1
_SKIPPED = {*IGNORED_FOLDERS, STATE}


@dataclass
class LiveWeek:
    """The state of a week while the site runs.

    version: changes whenever the week's page has to be rendered again, also after a restart
    drawing: the figures of the finished week are being drawn
    problem: why the newest version has no result; the source line may follow on the next line
    graded:  digest of the files that were graded last
    """

    version: int = field(default_factory=time.time_ns)
    busy: bool = False
    drawing: bool = False
    problem: str = ""
    graded: str = ""


def usable_sandbox(choice: str) -> tuple[str, str]:
    """Return the name of the sandbox to use, and a warning if there is none.

    choice: auto, none, or the name of a backend. With `auto`, the learner's own code is graded
    without a sandbox if none works here, as `autograder check` runs it.
    """
    try:
        name, why = sandbox_name(choice, None), "as you asked with --sandbox none"
    except SandboxMissing as error:
        if choice != "auto":
            raise
        name, why = "none", str(error)
    if name != "none":
        return name, ""
    return name, (
        "Your code is graded without a sandbox: it runs with your permissions, as when you run it "
        f"yourself. Run only code that you trust. Reason: {why}"
    )


class LiveGrading:
    """Watches the learner's folder, and grades changed modules one after the other."""

    def __init__(self, learner: LearnerFolder, sandbox: str) -> None:
        self.learner = learner
        self.weeks = {week.name: LiveWeek() for week in learner.course.weeks}
        self._wanted: dict[str, None] = {}  # names of weeks to grade, in order
        half_mib = max(_MIN_MIB, psutil.virtual_memory().total >> 21)
        settings = Settings(devices=axis(), sandbox=sandbox, niceness=0)
        self._process = GradingProcess(1, half_mib, settings)
        idle = msgspec.structs.replace(settings, niceness=15)
        self._preparing = GradingProcess(2, half_mib, idle)
        self._prepared: set[str] = set()
        self._drawings: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Watch and grade until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._watch())
                tasks.create_task(self._grade_wanted())
                tasks.create_task(self._prepare_visited())
        finally:
            self._process.end()
            self._preparing.end()
            for task in self._drawings:
                task.cancel()
            await asyncio.gather(*self._drawings, return_exceptions=True)

    def request(self, week: Week) -> None:
        """Grade a week soon, unless its files are unchanged since they were graded last."""
        self._wanted.setdefault(week.name)

    async def changed(self, week: Week, seen: int, seconds: float, stop: Callable[[], bool]) -> int:
        """Wait until the version of a week differs from `seen`, and return the version."""
        end = time.monotonic() + seconds
        while self.weeks[week.name].version == seen and time.monotonic() < end and not stop():
            await asyncio.sleep(_POLL)
        return self.weeks[week.name].version

    async def _watch(self) -> None:
        folder = self.learner.path

        def wanted(change: Change, path: str) -> bool:
            parts = Path(path).relative_to(folder).parts
            return not _SKIPPED & set(parts) and path.endswith((".py", ".ipynb"))

        async for changes in awatch(folder, watch_filter=wanted, debounce=150, step=50):
            for name in {Path(path).relative_to(folder).parts[0] for _, path in changes}:
                if live := self.weeks.get(name):
                    live.version += 1  # the page also shows answers, and whether the module exists
                    self._wanted.setdefault(name)

    async def _grade_wanted(self) -> None:
        while True:
            while not self._wanted:
                await asyncio.sleep(_POLL / 2)
            name = next(iter(self._wanted))
            del self._wanted[name]
            week, live = self.learner.course.week(name), self.weeks[name]
            try:
                await self._grade(week, live)
            except (KitError, OSError) as error:
                live.problem = f"Grading failed: {error}. Save the file again to repeat it."
            if live.busy:
                live.busy = False
                live.version += 1
            if not open_tasks(week, self.learner.record(week)):
                self._draw(week, live)

    async def _grade(self, week: Week, live: LiveWeek) -> None:
        submission = await asyncio.to_thread(self._read, week)
        if submission is None:
            live.graded = ""
            return
        digest = submission.problem or digest_of(submission.files)
        if digest == live.graded:
            return
        live.busy, live.graded = True, digest
        live.version += 1
        if submission.problem:
            live.problem = submission.problem
            return
        reports: list[SubmissionReport] = []

        async def done(receipt: str, report: SubmissionReport) -> None:
            reports.append(report)

        prepared = PreparedSubmission(self.learner.course, week, submission)
        try:
            await asyncio.wait_for(self._process.grade({"": prepared}, done), _SECONDS)
        except TimeoutError:
            self._process.end()
            raise KitError(
                f"it took more than {_SECONDS:.0f} s, perhaps because of an endless loop"
            ) from None
        (report,) = reports
        live.problem = "" if report.verdict is Ending.GRADED else report.message
        await asyncio.to_thread(self.learner.add_report, week, report)

    async def _prepare_visited(self) -> None:
        """Run the misconceptions of visited weeks through the tests, in a process of low priority.

        The results are stored on disk, so that the first mistake in an exercise is named as fast as
        later ones. Grading one wrong version of each exercise runs all its misconceptions.
        """
        while True:
            await asyncio.sleep(_POLL)
            graded = [w for w in self.learner.course.weeks if self.learner.record(w).report]
            for week in (w for w in graded if w.name not in self._prepared):
                self._prepared.add(week.name)
                with contextlib.suppress(KitError):  # it only saves time
                    await self._preparing.grade(self._wrong_versions(week), _ignore)
                self._preparing.end()

    def _wrong_versions(self, week: Week) -> dict[str, PreparedSubmission]:
        bank, prepared = Bank(self.learner.course, week), {}
        for exercise in week.exercises:
            for wrong in bank.of_exercise(exercise.name)[:1]:
                files = {week.module: wrong.source.encode()}
                submission = Submission(exercise.name, files)
                entry = PreparedSubmission(self.learner.course, week, submission)
                prepared[exercise.name] = entry
        return prepared

    def _draw(self, week: Week, live: LiveWeek) -> None:
        """Start to draw the figures of a finished week with the learner's module."""

        async def draw() -> None:
            with contextlib.suppress(OSError):
                await draw_own_figures(self.learner, week)
            live.drawing = False
            live.version += 1

        if not live.drawing and not are_drawn(self.learner, week):
            live.drawing = True
            live.version += 1
            task = asyncio.create_task(draw())
            self._drawings.add(task)
            task.add_done_callback(self._drawings.discard)

    def _read(self, week: Week) -> Submission | None:
        """Return the files of a week, or None if the module is missing."""
        folder = self.learner.path / week.name
        if not (folder / week.module).is_file():
            return None
        return read_submission(folder, week, self.learner.course.limits(week), "you")


async def _ignore(receipt: str, report: SubmissionReport) -> None:
    pass
