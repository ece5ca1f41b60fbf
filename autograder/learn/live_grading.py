"""Grade a week's module after each save, in a child process that keeps a warm engine.

While a version is graded, later saves are combined, so that the newest version is graded next. A
second process of low priority runs the misconceptions of visited weeks through the tests. Their
results are stored on disk, so that the first mistake in an exercise is named as fast as later ones.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
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
from ..serve.grading_process import ChildProcess, GradingProcess, PreparedSubmission
from ..serve.shared_state import Settings
from .learner_record import STATE, LearnerFolder
from .own_figures import are_drawn, draw_figures, figures_folder
from .week_overview import open_tasks

_MIN_MIB = 2048
_POLL = 0.1
_SKIPPED = {*IGNORED_FOLDERS, STATE}


class LiveWeek(msgspec.Struct):
    """The state of a week while the site runs.

    version: changes whenever the week's page has to be rendered again, also after a restart
    problem: why the newest version has no result; the source line may follow on the next line
    graded:  digest of the files that were graded last
    drawing: the figures of the finished week are being drawn
    """

    version: int = msgspec.field(default_factory=time.time_ns)
    busy: bool = False
    problem: str = ""
    graded: str = ""
    drawing: bool = False


def usable_sandbox(choice: str) -> tuple[str, str]:
    """Return the name of the sandbox to use, and a warning if there is none.

    choice: auto, none, or the name of a backend. With `auto`, the learner's own code is graded
    without a sandbox if none works here, just as `autograder check` runs it.
    """
    try:
        name, why = sandbox_name(choice, None), "--sandbox none was chosen"
    except SandboxMissing as error:
        if choice != "auto":
            raise
        name, why = "none", str(error)
    return name, "" if name != "none" else (
        "Your code is graded without a sandbox: it runs with your permissions, as when you run it "
        f"yourself. Run only code that you trust. Reason: {why}"
    )


class LiveGrading:
    """Watches the learner's folder, and grades changed modules one after the other."""

    def __init__(self, learner: LearnerFolder, sandbox: str) -> None:
        self.learner = learner
        self.weeks = {week.name: LiveWeek() for week in learner.course.weeks}
        self.visited: Week | None = None  # the last requested week
        self._wanted: dict[str, None] = {}  # names of weeks to grade, in order
        max_mib = max(_MIN_MIB, psutil.virtual_memory().total >> 21)
        self._process, self._preparing = (
            GradingProcess(n, max_mib, Settings(devices=axis(), sandbox=sandbox, niceness=nice))
            for n, nice in ((1, 0), (2, 15))
        )
        self._drawing = ChildProcess("figures", niceness=10)

    async def run(self) -> None:
        """Watch and grade until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._watch())
                tasks.create_task(self._grade_wanted())
                tasks.create_task(self._prepare_visited())
                tasks.create_task(self._draw_finished())
        finally:
            for process in (self._process, self._preparing, self._drawing):
                process.end()

    def request(self, week: Week) -> None:
        """Grade a week soon if its files have changed, and draw its figures if it is finished."""
        self.visited = week
        self._wanted.setdefault(week.name)

    async def changed(self, week: Week, seen: str, seconds: float, stop: Callable[[], bool]) -> str:
        """Wait until the version of a week differs from `seen`, and return the version."""
        live, end = self.weeks[week.name], time.monotonic() + seconds
        while str(live.version) == seen and time.monotonic() < end and not stop():
            await asyncio.sleep(_POLL)
        return str(live.version)

    async def _watch(self) -> None:
        def parts(path: str) -> tuple[str, ...]:
            return Path(path).relative_to(self.learner.path).parts

        def wanted(change: Change, path: str) -> bool:
            return not _SKIPPED & {*parts(path)} and path.endswith((".py", ".ipynb"))

        changes = awatch(self.learner.path, watch_filter=wanted, debounce=150, step=50)
        async for batch in changes:
            for name in {parts(path)[0] for _, path in batch} & {*self.weeks}:
                self.weeks[name].version += 1  # the notebook's answers, or a deleted module
                self.weeks[name].graded = ""  # an unchanged version is in the result store
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
                live.problem = f"Grading failed: {error}. Save the file to try again."
            if live.busy:
                live.busy = False
                live.version += 1

    async def _grade(self, week: Week, live: LiveWeek) -> None:
        folder, limits = self.learner.path / week.name, self.learner.course.limits(week)
        if not (folder / week.module).is_file():
            live.graded = ""
            return
        submission = await asyncio.to_thread(read_submission, folder, week, limits, "you")
        digest = submission.problem or digest_of(submission.files)
        if digest == live.graded:
            return
        live.busy, live.graded, live.problem = True, digest, submission.problem
        live.version += 1
        if submission.problem:
            return

        async def done(receipt: str, report: SubmissionReport) -> None:
            live.problem = "" if report.verdict is Ending.GRADED else report.message
            await asyncio.to_thread(self.learner.add_report, week, report)

        prepared = {"": PreparedSubmission(self.learner.course, week, submission)}
        await self._process.grade(prepared, done)

    async def _prepare_visited(self) -> None:
        async def ignore(receipt: str, report: SubmissionReport) -> None:
            pass

        course, prepared = self.learner.course, set[str]()
        while True:
            await asyncio.sleep(_POLL)
            graded = [w for w in course.weeks if self.learner.record(w).report]
            for week in (w for w in graded if w.name not in prepared):
                prepared.add(week.name)
                # grading one wrong version of an exercise runs all misconceptions of the exercise
                wrong = {m.exercise: m.source.encode() for m in Bank(course, week).misconceptions}
                submissions = {
                    name: PreparedSubmission(course, week, Submission(name, {week.module: source}))
                    for name, source in wrong.items()
                }
                with contextlib.suppress(KitError):  # it only saves time
                    await self._preparing.grade(submissions, ignore)
                self._preparing.end()

    async def _draw_finished(self) -> None:
        """Draw the figures of the week on the screen, if it is finished and has changed."""
        while True:
            await asyncio.sleep(10 * _POLL)
            week = self.visited
            if week is None or open_tasks(week, self.learner.record(week)):
                continue
            if not are_drawn(self.learner, week):
                live, out = self.weeks[week.name], figures_folder(self.learner, week)
                live.drawing = True
                live.version += 1
                module = self.learner.path / week.name / week.module
                arguments = self.learner.course, week, module, out
                with contextlib.suppress(Exception):  # the module may be wrong
                    await asyncio.wait_for(self._drawing.call(draw_figures, *arguments), 300)
                self._drawing.end()
                live.drawing = False
                live.version += 1
