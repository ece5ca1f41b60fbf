"""Grading one week's submissions in this process: graders, sandbox, reference, diagnosis.

An `Engine` is made once per process and week and keeps everything warm: the pytest session, the
reference's answers, the misconceptions' runs, the sandbox's template.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from ..files.workfolder import WorkFolder
from ..model import scoring
from ..model.axes import AXES
from ..model.bank import Bank, Misconception
from ..model.course import Course, Limits, Week
from ..model.errors import EngineError
from ..model.extras import installed
from ..model.report import Diagnosis, ExerciseReport, SubmissionReport
from ..model.rules import Rules
from ..model.verdicts import Ending, Verdict
from ..sandbox import SandboxError
from ..worker import claimed
from ..worker.fixtures import warm
from ..worker.nets import set_nets
from .alike import Answers
from .diagnose import Named, diagnose
from .follow import Inherited
from .heritage import Heritage
from .kept import KeptRuns
from .outcomes import NotRun, Outcome
from .plugin import GraderPlugin, Ran, exercise_of, test_name
from .session import GraderSession
from .source_rules import source_problems
from .spawner import Spawner, usable_extras
from .suspects import LineFinder
from .targets import InProcess, Recorded, Sandboxed, Target

import msgspec  # isort: skip

# Where every test ended so, there is nothing to name.
_SOUND = (Verdict.PASS, Verdict.NOT_RUN)
_NOTHING_TO_NAME = (Verdict.UNWRITTEN, Verdict.NOT_RUN)
# The solution, where it stands in for a submission; no misconception has such a name.
_SOLUTION = "-solution"
# What one version of a submission may take, and all of them: the budget ends them much sooner.
_TRIAL_SECONDS = {"call_seconds": 1.0, "exercise_seconds": 600.0, "submission_seconds": 600.0}
_CANNOT_BE_TESTED = (
    "What was returned is of a kind, shape or type that this test cannot go on with. "
    "Compare with what the docstring asks for."
)


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
        self._misconceptions: dict[str, list[Ran]] = {}
        self._right: dict[str, dict[str, Answers]] = {}
        self._order = random.Random()
        self._sound: dict[str, bool] = {}  # of tests that let out a fault, whether it was theirs
        set_nets(week.all_patterns)
        claimed.device()  # a later engine may need it, after a backward pass of this one
        if any(AXES[d].claimed for d in devices):
            claimed.warm()
        for extra in usable_extras(week):
            warm(extra)
        solution = self.written("solution", self.bank.solution)
        self._reference, self._precise = (
            Recorded(InProcess(solution), kept.answers(name) if kept else {})
            for name in ("reference", "precise")
        )
        self.plugin = GraderPlugin(
            week.module,
            tuple(e.name for e in week.exercises),
            {e.name: week.patterns(e.name) for e in week.exercises},
            devices,
            secret,
            self._reference,
            self._precise,
        )
        self.session = GraderSession(course.graders(week), self.plugin)
        self.scoring = course.registry.scoring
        self._heritage = Heritage(self, secret, self.limits.exercise_seconds)
        self.items = self.plugin.items()
        self._check_items()
        self._finder: LineFinder | None = None

    def look_for_lines(self, seconds: float) -> Engine:
        """Look for the line of a mistake from now on, so long for each exercise (0: never)."""
        self._finder = LineFinder(
            self.week, seconds, self._trial, self._run_failing_first, self._solution_again
        )
        return self

    def _check_items(self) -> None:
        known = {e.name for e in self.week.exercises}
        graded = {exercise_of(i) for i in self.items}
        if unknown := graded - known:
            raise EngineError(
                f"test_{min(unknown)}.py grades no exercise of {self.week.name}: rename it"
            )
        if ungraded := known - graded:
            raise EngineError(f"no grader: test_{min(ungraded)}.py is missing in {self.week.name}")

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
        try:
            return self._graded(name, files, exercise)
        except (SandboxError, EngineError) as error:
            return self._fault(name, str(error))
        except Exception as error:  # whatever a submission provoked in us stays its own report
            return self._fault(name, f"{type(error).__name__}: {error}")

    def _graded(
        self, name: str, files: Mapping[str, bytes], exercise: str | None
    ) -> SubmissionReport:
        target, source = self.target(files), self._lines(files)
        try:
            ran = self.run(target, source, exercise, files)
        finally:
            target.close()
        carried = self._carried(source, ran, files)
        standings = [
            self._standing(
                e.name, [r for r in ran if r.exercise == e.name], carried.get(e.name, Inherited())
            )
            for e in self.week.exercises
            if exercise in (None, e.name)
        ]
        reports = scoring.exercise_reports(standings, self.scoring)
        exercises = tuple(self._with_lines(report, files, ran) for report in reports)
        faults = [r.fault for r in ran if r.fault]
        attempts = tuple(sorted(target.attempts))
        return scoring.submission_report(name, self.week, exercises, faults, attempts)

    def _with_lines(
        self, report: ExerciseReport, files: Mapping[str, bytes], ran: list[Ran]
    ) -> ExerciseReport:
        """The report with where its mistake is; what is inherited has its place elsewhere."""
        own = [r for r in ran if r.exercise == report.name]
        if self._finder is None or report.inherits or any(r.fault for r in own):
            return report
        suspects = self._finder.find(files, report.name, own)
        return msgspec.structs.replace(report, suspects=suspects)

    def _carried(
        self, source: tuple[str, ...], ran: list[Ran], files: Mapping[str, bytes]
    ) -> dict[str, Inherited]:
        """What each exercise inherits from the others' mistakes, where it fails tests."""
        if self.scoring.follow_through == "none" or any(r.fault for r in ran):
            return {}
        return self._heritage.of(source, ran, lambda: self.target(files))

    def target(self, files: Mapping[str, bytes], limits: Limits | None = None) -> Target:
        """Where this submission's calls are answered."""
        if self._spawner is None:
            folder = Path(tempfile.mkdtemp(dir=self._folder.path))
            for relative, content in files.items():
                path = folder / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            return InProcess(folder / self.week.module)
        spawner = self._spawner
        limits = limits or self.limits
        return Sandboxed(spawner.spawn, self.week.module, files, limits, spawner.gpu)

    def _trial(self, files: Mapping[str, bytes]) -> Target:
        """Where versions of a submission answer, one after the other: none may take long."""
        return self.target(files, msgspec.structs.replace(self.limits, **_TRIAL_SECONDS))

    def _run_failing_first(
        self, target: Target, exercise: str, failing: tuple[str, ...]
    ) -> list[Ran]:
        """The tests of an exercise, those named first, up to the first that fails."""
        items = [i for i in self.items if exercise_of(i) == exercise]
        items.sort(key=lambda i: test_name(i) not in failing)

        def run() -> list[Ran]:
            ran = []
            for one in self.plugin.run(target, (), items, {}):
                ran.append(one)
                if one.report.verdict.failed:
                    break
            return ran

        done: list[Ran] = self.session.call(run)
        return done

    def _solution_again(self) -> Target:
        """The solution in the place of a submission."""
        return InProcess(self.written(_SOLUTION, self.bank.solution))

    def run(
        self,
        target: Target,
        source: tuple[str, ...],
        exercise: str | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> list[Ran]:
        """Run the hidden tests (of one exercise) against any target.

        `files` is all that was handed in, where that is more than the module's source.
        """
        items = [i for i in self.items if exercise in (None, exercise_of(i))]
        settled = self._settled(files or {self.week.module: "\n".join(source).encode()})
        ran: list[Ran] = self.session.call(
            lambda: list(self.plugin.run(target, source, items, settled))
        )
        return [self._without_doubt(r) for r in ran]

    def _without_doubt(self, ran: Ran) -> Ran:
        """A fault in a test that the solution passes came from what was answered: it is wrong."""
        if not ran.in_doubt or not self._is_sound(ran.report.name):
            return ran
        report = msgspec.structs.replace(
            ran.report, verdict=Verdict.WRONG, message=_CANNOT_BE_TESTED
        )
        return Ran(report, ran.exercise, ran.answers)

    def _is_sound(self, test: str) -> bool:
        """Whether the solution passes a test when it is called like a submission."""
        if test not in self._sound:
            items = [i for i in self.items if test_name(i) == test]
            target = InProcess(self.written(_SOLUTION, self.bank.solution))
            source = tuple(self.bank.solution.split("\n"))
            runs = self.session.call(lambda: list(self.plugin.run(target, source, items, {})))
            self._sound[test] = all(r.report.verdict in _SOUND for r in runs)
        return self._sound[test]

    def first_failure(self, target: Target, source: str, exercise: str | None) -> str:
        """The name of the first test that rejects the target, or nothing."""
        items = [i for i in self.items if exercise in (None, exercise_of(i))]

        def search() -> str:
            for ran in self.plugin.run(target, tuple(source.split("\n")), items, {}):
                if ran.report.verdict.failed:
                    return ran.report.name
            return ""

        found: str = self.session.call(search)
        return found

    def _settled(self, files: Mapping[str, bytes]) -> dict[str, Outcome]:
        """Exercises whose verdict is known before anything runs."""
        rules = {e.name: Rules((), e.source_not_allowed) for e in self.week.exercises}
        settled: dict[str, Outcome] = dict(source_problems(files, self.week.module, rules))
        for exercise in self.week.exercises:
            if exercise.extra is not None and not installed(exercise.extra):
                settled[exercise.name] = NotRun(
                    f"This needs the extra {exercise.extra!r}, which is not installed here."
                )
        return settled

    def misconception_runs(self, exercise: str) -> dict[str, list[Ran]]:
        """Every misconception of the exercise, with the tests of the exercise that it fails."""
        bank = self.bank.of_exercise(exercise)
        missing = [m for m in bank if m.name not in self._misconceptions]
        # in an order of its own, so that processes side by side do not do the same
        for misconception in self._order.sample(missing, len(missing)):
            self._misconceptions[misconception.name] = self._failed_tests(misconception)
        return {m.name: self._misconceptions[m.name] for m in bank}

    def _failed_tests(self, misconception: Misconception) -> list[Ran]:
        failed = self._kept.get(misconception.name) if self._kept else None
        if failed is None:
            path = self.written(misconception.name, misconception.source)
            source = tuple(misconception.source.split("\n"))
            ran = self.run(InProcess(path), source, misconception.exercise)
            failed = [r for r in ran if r.report.verdict.failed]
            if self._kept and not any(r.fault for r in ran):
                self._kept.put(misconception.name, failed)
        return failed

    def right_answers(self, exercise: str) -> dict[str, Answers]:
        """What the solution, called like a submission, answers in each test of the exercise."""
        if exercise not in self._right:
            name = f"{_SOLUTION}.{exercise}"
            runs = self._kept.get(name) if self._kept else None
            if runs is None:
                items = [i for i in self.items if exercise_of(i) == exercise]
                target = self._solution_again()
                source = tuple(self.bank.solution.split("\n"))
                runs = self.session.call(
                    lambda: list(self.plugin.run(target, source, items, {}, keep_passed=True))
                )
                if self._kept and not any(r.fault for r in runs):
                    self._kept.put(name, runs)
            self._right[exercise] = {r.report.name: r.answers for r in runs}
        return self._right[exercise]

    def _standing(self, exercise: str, ran: list[Ran], carried: Inherited) -> scoring.Standing:
        """What the tests found out about an exercise: mistakes by name, and what it inherits."""
        named: list[Named] = []
        explained = frozenset[str]()
        own = [r for r in ran if r.report.name not in carried.credit]
        failed = any(r.report.verdict.failed for r in own)
        if failed and not all(r.report.verdict in _NOTHING_TO_NAME for r in ran):
            bank = self.misconception_runs(exercise)
            named = diagnose(own, bank, self.right_answers(exercise) if bank else {})
            explained = frozenset(r.report.name for n in named for r in bank[n.name])
        by_name = {m.name: m for m in self.bank.of_exercise(exercise)}
        return scoring.Standing(
            exercise=self.week.exercise(exercise),
            tests=tuple(r.report for r in ran),
            mistakes=tuple(
                scoring.Mistake(n.name, by_name[n.name].cost, by_name[n.name].belief) for n in named
            ),
            explained=explained,
            diagnoses=tuple(_explained(n, by_name[n.name]) for n in named),
            inherits=carried.helpers,
            carried=carried.credit,
        )

    def _fault(self, name: str, message: str) -> SubmissionReport:
        return SubmissionReport(
            name=name,
            verdict=Ending.GRADER_FAULT,
            score=0.0,
            max_score=scoring.full_points(self.week),
            seconds=0.0,
            message=f"The grading system failed, not the submission: {message}",
        )

    def _lines(self, files: Mapping[str, bytes]) -> tuple[str, ...]:
        return tuple(files.get(self.week.module, b"").decode("utf-8", "replace").split("\n"))

    def written(self, name: str, source: str) -> Path:
        folder = self._folder.path / name
        folder.mkdir(exist_ok=True)
        path = folder / self.week.module
        if not path.exists():
            path.write_text(source, encoding="utf-8")
        return path

    def _keep_answers(self) -> None:
        """What the solution was asked for the first time, other processes need not ask it again."""
        for name, recorded in (("reference", self._reference), ("precise", self._precise)):
            if self._kept and recorded.grown:
                self._kept.put_answers(name, recorded.answers)
                recorded.grown = False

    def close(self) -> None:
        self.session.close()
        if self._spawner is not None:
            self._spawner.end()
        self._folder.close()


def _explained(named: Named, by: Misconception) -> Diagnosis:
    return Diagnosis(by.name, by.title, by.hint, named.explains, named.of, named.mostly)
