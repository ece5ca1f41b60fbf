"""Grade the submissions of a week, one at a time, in this process.

Create one `Engine` per process and week. The engine caches the collected hidden tests, the replies
of the reference and the test results of the misconceptions, and reuses the sandbox's fork server.
"""

import functools
import hashlib
import re
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

import torch
from msgspec.structs import replace

from ..files import WorkFolder, write_files
from ..model.availability import is_missing
from ..model.course import Counterexamples, Course, Limits, Suspects, Week
from ..model.course.bank import Bank
from ..model.errors import EngineError
from ..model.report import scoring
from ..model.report.schema import Ending, SubmissionReport
from ..model.source.import_failure import STUCK, ImportFailure, ended, explained
from .counterexample import CounterexampleSearch
from .dependencies.error_carried_forward import CarriedForward
from .dependencies.reference_stubs import InProcessWithHelpers, ReferenceHelpers
from .disclosure.leak_budget import limit_disclosure
from .judge import Judge
from .localization.localizer import LineFinder
from .localization.traces import Traces
from .outcomes import BestEffort, Crashed, LimitExceeded, Outcome, TimedOut
from .running.disk_cache import RunCache
from .running.pytest_plugin import GraderPlugin
from .running.test_runner import Runs, collect_tests, write_module
from .targets.confined_process import Spawner
from .targets.in_process import InProcess, RecordedTarget, Target, prepare_process
from .targets.resource_limits import MOST_BYTES, ceiling
from .targets.sandboxed import Sandboxed

# Time limits for edited versions of a submission. The limits per exercise and per submission are
# never reached, because the search for edits has a much smaller time budget.
_EDIT_SECONDS = {"call_seconds": 1.0, "exercise_seconds": 600.0, "submission_seconds": 600.0}


class Engine:
    """Grades the submissions of one week.

    spawner: starts sandboxes; None runs submissions in this process, which is safe only for the
             project's own code
    cache:   test results of the project's own code that are stored on disk for all processes, or
             None to store no results
    """

    def __init__(
        self,
        course: Course,
        week: Week,
        devices: tuple[str, ...],
        secret: bytes,
        spawner: Spawner | None,
        cache: RunCache | None = None,
    ) -> None:
        self.course, self.week, self.devices = course, week, devices
        self.bank = Bank(course, week)
        self.limits = course.limits(week)
        self._spawner = spawner
        self._folder = WorkFolder()
        self._traces = functools.cache(self._new_traces)  # recorded runs, which submissions share
        if not hasattr(torch.library, "get_kernel"):
            raise EngineError(
                f"grading needs a newer torch than {torch.__version__}: see constraints.txt. "
                "Students' checks do without"
            )
        prepare_process(week, devices)
        solution = write_module(self._folder.path / "solution", week, self.bank.solution)
        reference, precise = (RecordedTarget(InProcess(solution)) for _ in range(2))
        plugin = GraderPlugin(week, devices, secret, reference, precise, self.bank.solution)
        collect_tests(course.graders(week), plugin)
        apart = self.target if spawner is not None and spawner.gpu else None
        self.runs = Runs(self.bank, plugin, self._folder.path, cache, apart)
        self._best_effort = BestEffort(spawner.end if spawner is not None else None)
        self._carried_forward = CarriedForward(
            self.runs,
            self.limits.exercise_seconds,
            self.limits.call_seconds,
            lambda files, helpers: self.target(files, helpers=helpers),
        )
        self.judge = Judge(
            self.runs,
            course.registry.scoring,
            self._best_effort,
            self._carried_forward,
            self._with_helpers,
        )

    def locate_mistakes(self, settings: Suspects) -> Self:
        """Enable the localization of mistakes within these time budgets, and return this engine."""
        trial = replace(self.limits, **_EDIT_SECONDS)
        load = functools.partial(self._with_helpers, limits=trial)
        self.judge.names.finder = LineFinder(self.runs, settings, load, self._traces)
        return self

    def find_counterexamples(self, settings: Counterexamples) -> Self:
        """Enable the search for counterexamples within these time budgets; return this engine."""
        self.judge.names.examples = self.counterexamples(settings)
        return self

    def counterexamples(self, settings: Counterexamples) -> CounterexampleSearch:
        """Return a search for inputs on which exercises are wrong."""
        trial = replace(self.limits, **_EDIT_SECONDS)
        load = functools.partial(self._with_helpers, limits=trial)
        return CounterexampleSearch(self.runs, self._best_effort, load, self._traces, settings)

    def grade(
        self, name: str, files: Mapping[str, bytes], exercise: str | None = None
    ) -> SubmissionReport:
        """Grade a submission, or only one of its exercises, and return the report.

        If grading ends with a grader fault, restart the sandbox (if any) and grade once more.
        """
        started = time.perf_counter()
        report = self._attempt(name, files, exercise)
        if report.verdict is Ending.GRADER_FAULT:
            if self._spawner is not None:
                self._spawner.end()
            report = self._attempt(name, files, exercise)
        seconds = round(time.perf_counter() - started, 4)
        return replace(report, seconds=seconds)

    def _attempt(
        self, name: str, files: Mapping[str, bytes], exercise: str | None
    ) -> SubmissionReport:
        # without a sandbox, this process also holds the submission's memory
        own = self.limits.memory_mib << 20 if self._spawner is None else 0
        try:
            with ceiling(MOST_BYTES + own):
                return self._graded(name, files, exercise)
        except EngineError as error:
            message = str(error)
        except Exception as error:  # a bug must not prevent the grading of other submissions
            message = f"{type(error).__name__}: {error}"
        return scoring.fault(name, message, scoring.full_points(self.week))

    def _graded(
        self, name: str, files: Mapping[str, bytes], exercise: str | None
    ) -> SubmissionReport:
        target = self.target(files)
        if isinstance(target, Sandboxed):
            target.listens_ahead = True  # all tests run, so their calls can be predicted
        try:
            extras = [e.extra for e in self.week.exercises]
            problem = import_problem(target, self.week.module, files, extras)
            ran = [] if problem else self.runs.run(target, files, exercise)
        finally:
            target.close()
        attempts = tuple(sorted(target.attempts))
        if problem:
            return scoring.refused(name, self.week, problem, attempts)
        self._best_effort.failures.clear()
        judged = self.judge.judge(ran, files)
        exercises = self.judge.reports(
            [judged[e.name] for e in self.week.exercises if exercise in (None, e.name)],
            self.week.electives_counted,
        )
        faults = [r.fault for r in ran if r.fault]
        report = scoring.submission_report(name, self.week, exercises, faults, attempts)
        report = limit_disclosure(report, self.runs.lines(files))
        failures = tuple(self._best_effort.failures)
        return replace(report, unexplained=failures)

    def target(
        self,
        files: Mapping[str, bytes],
        limits: Limits | None = None,
        helpers: ReferenceHelpers | None = None,
    ) -> Sandboxed | InProcess:
        """Return a target for a submission. `helpers`: correct versions of exercises, or None."""
        if self._spawner is None:
            folder = Path(tempfile.mkdtemp(dir=self._folder.path))
            write_files(folder, files)
            module = folder / self.week.module
            return InProcessWithHelpers(module, helpers) if helpers else InProcess(module)
        spawner = self._spawner
        limits = limits or self.limits
        return Sandboxed(spawner.spawn, self.week.module, files, limits, spawner.gpu, helpers)

    def _with_helpers(
        self, files: Mapping[str, bytes], names: Iterable[str], limits: Limits | None = None
    ) -> Target:
        """Return a target for a submission, with correct versions of the exercises in `names`."""
        helpers = self._carried_forward.helpers(names)
        return self.target(files, limits, helpers if helpers.stubs else None)

    def _new_traces(self, exercise: str) -> Traces:

        def target(source: str) -> Target:
            name = f"-traced-{hashlib.blake2b(source.encode(), digest_size=12).hexdigest()}"
            return InProcess(self.runs.written(name, source))

        wrong = {m.name: m.source for m in self.bank.of_exercise(exercise)}
        return Traces(exercise, self.bank.correct_sources(exercise), wrong.__getitem__, target)

    def close(self) -> None:
        if self.judge.names.examples is not None:
            self.judge.names.examples.close()
        if self._spawner is not None:
            self._spawner.end()
        self._folder.close()


def import_problem(
    target: Sandboxed | InProcess,
    module: str,
    files: Mapping[str, bytes],
    extras: Iterable[str | None] = (),
) -> str:
    """Import the module; return the error with its line and a caret, or "" if the import succeeds.

    A module that cannot be imported is not tested, so its process never receives a request of a
    hidden test. If the import fails later, when the process is restarted after a test, the failure
    decides the verdict of the next test. A missing library is not an error if the library belongs
    to one of the `extras` that are not installed on this machine.
    """
    try:
        raised = target.load()
    except Outcome as outcome:
        failure = ImportFailure("", _how_import_ended(outcome))
    else:
        if raised is None or is_missing(extras, raised.type, raised.message):
            return ""
        failure = ImportFailure(
            raised.type, raised.message, raised.file, raised.line or 0, raised.column
        )
    texts = {name: content.decode("utf-8-sig", "replace") for name, content in files.items()}
    return explained(module, failure, texts)


def _how_import_ended(outcome: Outcome) -> str:
    if isinstance(outcome, Crashed):
        signal = re.search(r"\bSIG[A-Z]+", outcome.message)
        return ended(signal[0] if signal else "")
    if isinstance(outcome, LimitExceeded):
        return "it uses more processor time, memory or disk than a submission may"
    if isinstance(outcome, TimedOut):
        return STUCK
    return outcome.message
