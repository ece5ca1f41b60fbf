"""Grading one week's submissions in this process: graders, sandbox, reference, diagnosis.

An `Engine` is made once per process and week and keeps everything warm: the pytest session, the
reference's answers, the misconceptions' runs, the sandbox's template.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from pathlib import Path

import torch

from ..files.workfolder import WorkFolder
from ..model import scoring
from ..model.axes import AXES
from ..model.bank import Bank
from ..model.course import Course, Limits, Scoring, Suspects, Week
from ..model.errors import EngineError
from ..model.report import SubmissionReport
from ..model.verdicts import Ending, Verdict
from ..sandbox import SandboxError
from ..worker import claimed
from ..worker.nets import set_nets
from .behind import BehindVerdicts
from .bench import Grader
from .ceiling import ceiling
from .disclosure import rationed
from .extras import warm_extras
from .follow import FollowThrough, Inherited, comes_to_an_end, is_fault_of_its_own
from .importing import import_problem
from .kept import KeptRuns
from .lending import Lending, RightHelpers
from .ownnotes import OwnNotes
from .plugin import GraderPlugin, Ran
from .runs import Runs, write_module
from .sandboxed import Sandboxed
from .search import Compared
from .session import GraderSession
from .spawner import Spawner
from .standings import JudgedExercise, Standings
from .suspects import LineFinder
from .targets import InProcess, RecordedTarget, Target
from .traces import OwnPrograms

import msgspec  # isort: skip

# What one version of a submission may take, and all of them: the budget ends them much sooner.
_TRIAL_SECONDS = {"call_seconds": 1.0, "exercise_seconds": 600.0, "submission_seconds": 600.0}


class Engine:
    """Grades submissions of one week. `spawner` None grades in this process: own code only.

    `kept`: where other processes, before and beside this one, left what they found of our own code.
    """

    def __init__(
        self,
        course: Course,
        week: Week,
        devices: tuple[str, ...],
        secret: bytes,
        spawner: Spawner | None,
        kept: KeptRuns | None = None,
    ) -> None:
        self.course, self.week, self.devices = course, week, devices
        self.bank = Bank(course, week)
        self.limits = course.limits(week)
        self._spawner, self._kept = spawner, kept
        self._folder = WorkFolder()
        if not hasattr(torch.library, "get_kernel"):
            raise EngineError(
                f"grading needs a newer torch than {torch.__version__}: see constraints.txt. "
                "Students' checks do without"
            )
        set_nets(week.all_patterns)
        claimed.device()  # a later engine may need it, after a backward pass of this one
        if any(AXES[d].claimed for d in devices):
            claimed.warm_without_distributed()
        warm_extras(week)
        solution = write_module(self._folder.path / "solution", week, self.bank.solution)
        self._reference, self._precise = (
            RecordedTarget(InProcess(solution), kept.answers(name) if kept else {})
            for name in ("reference", "precise")
        )
        plugin = GraderPlugin(
            week.module,
            tuple(e.name for e in week.exercises),
            {e.name: week.patterns(e.name) for e in week.exercises},
            devices,
            secret,
            self._reference,
            self._precise,
            self.bank.solution,
        )
        self.session = GraderSession(course.graders(week), plugin)
        on_gpu = spawner is not None and spawner.gpu
        apart = self.target if on_gpu else None
        self.runs = Runs(self.bank, plugin, self.session, self._folder.path, kept, apart)
        self._notes: dict[str, OwnNotes] = {}
        self._follow_through = FollowThrough(
            self.runs, self.limits.exercise_seconds, self.limits.call_seconds
        )
        self._behind = BehindVerdicts(spawner)
        self._standings = Standings(self.runs, course.registry.scoring, self._behind, self._beside)
        self.heard: Callable[[str, bool], None] | None = None  # of each hidden test that has run

    def look_for_lines(self, settings: Suspects) -> Engine:
        """Look for the line of a mistake from now on, as long as the settings say."""
        runs = self.runs
        grader = Grader(
            self._trial,
            runs.run_until_failure,
            lambda target, exercise, source: runs.run(target, tuple(source.split("\n")), exercise),
            runs.recorded,
            lambda e: Compared(runs.of_misconceptions(e), runs.right_answers(e)),
            self._own_programs,
        )
        self.finder = LineFinder(self.week, settings, grader)
        return self

    @property
    def finder(self) -> LineFinder | None:
        """What looks for lines, if anything does."""
        return self._standings.finder

    @finder.setter
    def finder(self, finder: LineFinder | None) -> None:
        self._standings.finder = finder

    @property
    def scoring(self) -> Scoring:
        """What decides points."""
        return self._standings.rule

    @scoring.setter
    def scoring(self, rule: Scoring) -> None:
        self._standings.rule = rule

    def grade(
        self, name: str, files: Mapping[str, bytes], exercise: str | None = None
    ) -> SubmissionReport:
        """The report of one submission (on one exercise, if named).

        A fault of ours is tried again in a fresh sandbox.
        """
        started = time.perf_counter()
        report = self._attempt(name, files, exercise)
        if report.verdict is Ending.GRADER_FAULT:
            if self._spawner is not None:
                self._spawner.end()
            report = self._attempt(name, files, exercise)
        self._keep_answers()
        seconds = round(time.perf_counter() - started, 4)
        return msgspec.structs.replace(report, seconds=seconds)

    def _attempt(
        self, name: str, files: Mapping[str, bytes], exercise: str | None
    ) -> SubmissionReport:
        # one's own code, without a sandbox, may use what the machine has
        bounded = ceiling() if self._spawner is not None else contextlib.nullcontext()
        try:
            with bounded:
                return self._graded(name, files, exercise)
        except (SandboxError, EngineError) as error:
            return self._fault(name, str(error))
        except Exception as error:  # whatever a submission provoked in us stays its own report
            return self._fault(name, f"{type(error).__name__}: {error}")

    def _graded(
        self, name: str, files: Mapping[str, bytes], exercise: str | None
    ) -> SubmissionReport:
        target, source = self.target(files), self.runs.lines(files)
        if isinstance(target, Sandboxed):
            target.listens_ahead = True  # it runs every test of an exercise
        try:
            extras = [e.extra for e in self.week.exercises]
            problem = import_problem(target, self.week.module, files, extras)
            ran = [] if problem else self.runs.run(target, source, exercise, files, self._hear)
        finally:
            target.close()
        if problem:
            return scoring.refused(name, self.week, problem, tuple(sorted(target.attempts)))
        self._behind.failed.clear()
        found = self._judged(ran, files)
        judged = [found[e.name] for e in self.week.exercises if exercise in (None, e.name)]
        reports = scoring.exercise_reports(
            [j.standing for j in judged], self.scoring, self.week.electives_counted
        )
        if self.finder is not None:
            self.finder.begin()
        exercises = tuple(
            self._standings.told(report, files, one)
            for report, one in zip(reports, judged, strict=True)
        )
        faults = [r.fault for r in ran if r.fault]
        attempts = tuple(sorted(target.attempts))
        report = scoring.submission_report(name, self.week, exercises, faults, attempts)
        report = rationed(report, source)
        return msgspec.structs.replace(report, unexplained=tuple(self._behind.failed))

    def _hear(self, ran: Ran) -> None:
        if self.heard is not None:
            self.heard(ran.exercise, not ran.report.verdict.a_finding)

    def _judged(self, ran: list[Ran], files: Mapping[str, bytes]) -> dict[str, JudgedExercise]:
        """How each exercise stands; helpers are judged before the exercises that call them."""
        runs: dict[str, list[Ran]] = {e.name: [] for e in self.week.exercises}
        for one in ran:
            runs[one.exercise].append(one)
        if not any(one.report.verdict.failed for one in ran):
            return {e: self._standings.judged(e, runs[e], Inherited(), files) for e in runs}
        follows = self.scoring.follow_through != "none" and not any(r.fault for r in ran)
        judged = dict[str, JudgedExercise]()
        attempts = dict[str, bool]()  # helpers with mistakes of their own: whether nearly right
        called = self._follow_through.begin("\n".join(self.runs.lines(files)))
        for name, helpers in called.items():
            carried = Inherited()
            wrong = helpers.wrong(attempts)
            if follows and wrong and is_fault_of_its_own(runs[name], carried):
                carried = self._behind.find(
                    f"{name}, error carried forward",
                    partial(self._inherited, runs[name], wrong, files),
                    carried,
                )
            found = self._standings.judged(name, runs[name], carried, files, helpers.own)
            judged[name] = found
            at_fault = is_fault_of_its_own(runs[name], carried) and comes_to_an_end(runs[name])
            if at_fault and any(name in other.own for other in called.values()):
                tried = self._behind.find(
                    f"{name}, tried", partial(self._tried, found, files), found
                )
                if self._standings.is_attempt(tried):
                    attempts[name] = self._standings.is_nearly_right(found)
        return judged

    def _tried(self, judged: JudgedExercise, files: Mapping[str, bytes]) -> JudgedExercise:
        """Judge by its answers an exercise whose source breaks a rule, so that no test was run.

        It runs apart from the other exercises, which it could spoil.
        """
        if any(r.answers or r.report.verdict is not Verdict.FORBIDDEN for r in judged.ran):
            return judged
        name, ran = judged.standing.exercise.name, list[Ran]()
        target = self.target(files)
        try:
            tests = {r.report.name for r in judged.ran}
            self.runs.run_some(target, files, name, tests, ran.append, replaced=(name,))
        finally:
            target.close()
        return self._standings.judged(name, ran, Inherited(), files)

    def _inherited(self, ran: list[Ran], wrong: Set[str], files: Mapping[str, bytes]) -> Inherited:
        return self._follow_through.inherited(
            ran, wrong, files, lambda helpers: self.target(files, helpers=helpers)
        )

    def target(
        self,
        files: Mapping[str, bytes],
        limits: Limits | None = None,
        helpers: RightHelpers | None = None,
    ) -> Sandboxed | InProcess:
        """Where this submission's calls are answered; with right helpers lent to it."""
        if self._spawner is None:
            folder = Path(tempfile.mkdtemp(dir=self._folder.path))
            for relative, content in files.items():
                path = folder / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            module = folder / self.week.module
            return Lending(module, helpers) if helpers is not None else InProcess(module)
        spawner = self._spawner
        limits = limits or self.limits
        return Sandboxed(spawner.spawn, self.week.module, files, limits, spawner.gpu, helpers)

    def _beside(
        self, files: Mapping[str, bytes], lent: Iterable[str], limits: Limits | None = None
    ) -> Target:
        """Where this submission answers beside right exercises of these names."""
        helpers = self._follow_through.helpers(lent)
        return self.target(files, limits, helpers if helpers.lent else None)

    def _trial(self, files: Mapping[str, bytes], lent: tuple[str, ...]) -> Target:
        """Where versions of a submission answer, one after the other: none may take long."""
        return self._beside(files, lent, msgspec.structs.replace(self.limits, **_TRIAL_SECONDS))

    def _own_programs(self, exercise: str) -> OwnPrograms:
        """What the values of a submission are compared with: they run in this process."""
        by_name = {m.name: m.source for m in self.bank.of_exercise(exercise)}
        if exercise not in self._notes:
            self._notes[exercise] = OwnNotes(exercise, self._kept)

        def target(source: str) -> Target:
            name = f"-traced-{hashlib.blake2b(source.encode(), digest_size=12).hexdigest()}"
            return InProcess(self.runs.written(name, source))

        return OwnPrograms(
            lambda: self._right_sources(exercise),
            tuple(by_name),
            by_name.__getitem__,
            target,
            self._notes[exercise],
        )

    def _right_sources(self, exercise: str) -> list[str]:
        """The solution, and the alternatives that write this exercise in another way."""
        bank = self.bank
        others = (a.source for a in bank.alternatives)
        starts = (f"def {exercise}(", f"class {exercise}(", f"class {exercise}:")
        more = [s for s in others if any(w in s[len(bank.solution) :] for w in starts)]
        return [bank.solution, *more]

    def _fault(self, name: str, message: str) -> SubmissionReport:
        return SubmissionReport(
            name=name,
            verdict=Ending.GRADER_FAULT,
            score=0.0,
            max_score=scoring.full_points(self.week),
            seconds=0.0,
            message=f"The grading system failed, not the submission: {message}",
        )

    def _keep_answers(self) -> None:
        """What our own code was asked for the first time, other processes need not ask it again."""
        for name, recorded in (("reference", self._reference), ("precise", self._precise)):
            if self._kept and recorded.grown:
                self._kept.put_answers(name, recorded.answers)
                recorded.grown = False
        for notes in self._notes.values():
            notes.keep()

    def close(self) -> None:
        self.session.close()
        if self._spawner is not None:
            self._spawner.end()
        self._folder.close()
