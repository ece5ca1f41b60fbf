"""Grading one week's submissions in this process: graders, sandbox, reference, diagnosis.

An `Engine` is made once per process and week and keeps everything warm: the pytest session, the
reference's answers, the misconceptions' runs, the sandbox's template.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from ..files.workfolder import WorkFolder
from ..model import scoring
from ..model.axes import AXES
from ..model.bank import Bank, Misconception
from ..model.course import Course, Limits, Suspects, Week
from ..model.errors import EngineError
from ..model.report import Diagnosis, ExerciseReport, SubmissionReport
from ..model.verdicts import Ending, Verdict
from ..sandbox import SandboxError
from ..worker import claimed
from ..worker.fixtures import warm
from ..worker.nets import set_nets
from .byplace import with_a_name, with_names
from .ceiling import ceiling
from .diagnose import Named, diagnose
from .faults import let_go
from .follow import Inherited
from .guards import KnownGuards
from .heritage import Heritage
from .kept import KeptRuns
from .outcomes import Flaw, printable
from .plugin import GraderPlugin, Ran
from .runs import Runs, write_module
from .search import Compared
from .session import GraderSession
from .spawner import Spawner, usable_extras
from .suspects import Grader, LineFinder
from .symptoms import by_symptom
from .targets import InProcess, RecordedTarget, Sandboxed, Target
from .traces import OwnPrograms
from .worked import came_to_something, empty_when_fitted, without_work

import msgspec  # isort: skip

Found = TypeVar("Found")
# Where every test ended so, there is nothing to name.
_NOTHING_TO_NAME = (Verdict.UNWRITTEN, Verdict.NOT_RUN)
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
        set_nets(week.all_patterns)
        claimed.device()  # a later engine may need it, after a backward pass of this one
        if any(AXES[d].claimed for d in devices):
            claimed.warm_without_distributed()
        for extra in usable_extras(week):
            warm(extra)
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
        self.runs = Runs(self.bank, plugin, self.session, self._folder.path, kept)
        self.scoring = course.registry.scoring
        self.guards = KnownGuards(kept)
        self._heritage = Heritage(self.runs, secret, self.limits.exercise_seconds, self.guards)
        self.finder: LineFinder | None = None
        self._unexplained: list[str] = []  # of the submission that is graded
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
        target, source = self.target(files), self._lines(files)
        try:
            ran = self.runs.run(target, source, exercise, files, self._hear)
        finally:
            target.close()
        self._unexplained.clear()
        nothing: dict[str, Inherited] = {}
        carried = self._explain(
            "follow-through", lambda: self._carried(source, ran, files), nothing
        )
        by_exercise: dict[str, list[Ran]] = {}
        for one in ran:
            by_exercise.setdefault(one.exercise, []).append(one)
        standings = [
            self._standing(
                e.name, by_exercise.get(e.name, []), carried.get(e.name, Inherited()), files
            )
            for e in self.week.exercises
            if exercise in (None, e.name)
        ]
        reports = scoring.exercise_reports(standings, self.scoring)
        if self.finder is not None:
            self.finder.begin()
        exercises = tuple(
            self._told(report, files, by_exercise.get(report.name, []), standing.explained)
            for report, standing in zip(reports, standings, strict=True)
        )
        faults = [r.fault for r in ran if r.fault]
        attempts = tuple(sorted(target.attempts))
        report = scoring.submission_report(name, self.week, exercises, faults, attempts)
        return msgspec.structs.replace(report, unexplained=tuple(self._unexplained))

    def _explain(self, what: str, step: Callable[[], Found], otherwise: Found) -> Found:
        """What a step behind the verdicts finds; one that fails has found nothing.

        The verdicts stand without it: no answer of a submission may take its grade from it.
        """
        try:
            return step()
        except Exception as error:
            self._unexplained.append(printable(f"{what}: {type(error).__name__}: {error}"))
            let_go(error)
            if self._spawner is not None and isinstance(error, SandboxError):
                self._spawner.end()
            return otherwise

    def _hear(self, ran: Ran) -> None:
        if self.heard is not None:
            self.heard(ran.exercise, not ran.report.verdict.a_finding)

    def _told(
        self,
        report: ExerciseReport,
        files: Mapping[str, bytes],
        own: list[Ran],
        explained: frozenset[str],
    ) -> ExerciseReport:
        """The report with where its mistake is and, if names leave most of it open, what its tests
        show; what is inherited has its place elsewhere."""
        if report.inherits or any(r.fault for r in own):
            return report
        finder, names = self.finder, report.diagnosis
        failing = [r for r in own if r.report.verdict.failed]
        open_ones = [r for r in failing if r.report.name not in explained]

        def named_by_place() -> ExerciseReport:
            assert finder is not None
            found = finder.find(files, report.name, own, names)
            return with_a_name(report, found, self.bank)

        def named_by_symptom() -> ExerciseReport:
            right = self.runs.right_answers(report.name)
            shown = by_symptom(open_ones, own, right, self.runs.asked(report.name))
            return with_names(report, (*report.explained, *shown))

        if finder is not None:
            report = self._explain(f"{report.name}, line", named_by_place, report)
        if report.diagnosis != names or 2 * len(open_ones) <= len(failing):
            return report
        if all(r.report.verdict in _NOTHING_TO_NAME for r in failing):
            return report
        return self._explain(f"{report.name}, symptom", named_by_symptom, report)

    def _carried(
        self, source: tuple[str, ...], ran: list[Ran], files: Mapping[str, bytes]
    ) -> dict[str, Inherited]:
        """What each exercise inherits from the others' mistakes, where it fails tests."""
        if self.scoring.follow_through == "none" or any(r.fault for r in ran):
            return {}

        def target(more: str = "") -> Target:
            """Where its code answers, with more text after it."""
            whole = files.get(self.week.module, b"") + more.encode()
            return self.target({**files, self.week.module: whole} if more else files)

        return self._heritage.of(source, ran, target)

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

    def _own_programs(self, exercise: str) -> OwnPrograms:
        """What the values of a submission are compared with: they run in this process."""
        by_name = {m.name: m.source for m in self.bank.of_exercise(exercise)}

        def target(source: str) -> Target:
            name = f"-traced-{hashlib.blake2b(source.encode(), digest_size=12).hexdigest()}"
            return InProcess(self.runs.written(name, source))

        return OwnPrograms(
            lambda: self._right_sources(exercise), tuple(by_name), by_name.__getitem__, target
        )

    def _right_sources(self, exercise: str) -> list[str]:
        """The solution, and the alternatives that write this exercise in another way."""
        bank = self.bank
        others = (a.source for a in bank.alternatives)
        starts = (f"def {exercise}(", f"class {exercise}(", f"class {exercise}:")
        more = [s for s in others if any(w in s[len(bank.solution) :] for w in starts)]
        return [bank.solution, *more]

    def _standing(
        self, exercise: str, ran: list[Ran], carried: Inherited, files: Mapping[str, bytes]
    ) -> scoring.Standing:
        """What the tests found out about an exercise: mistakes by name, and what it inherits."""
        named: list[Named] = []
        own = [r for r in ran if r.report.name not in carried.credit]
        failed = any(r.report.verdict.failed for r in own)
        if failed and not all(r.report.verdict in _NOTHING_TO_NAME for r in ran):
            bank = self.runs.of_misconceptions(exercise)
            right = self.runs.right_answers(exercise) if bank else {}
            named = self._explain(f"{exercise}, name", lambda: diagnose(own, bank, right), named)
        by_name = {m.name: m for m in self.bank.of_exercise(exercise)}
        none: dict[str, frozenset[str]] = {}
        priced = self._explain(
            f"{exercise}, price", lambda: self._priced(exercise, named, own, files), none
        )
        explained = frozenset[str]().union(*(priced.get(n.name, n.tests) for n in named))
        return scoring.Standing(
            exercise=self.week.exercise(exercise),
            tests=tuple(r.report for r in ran),
            mistakes=tuple(
                scoring.Mistake(
                    n.name,
                    by_name[n.name].cost if n.name in priced else None,
                    by_name[n.name].belief,
                )
                for n in named
            ),
            explained=explained,
            seen=came_to_something(r for r in own if r.report.name in explained),
            diagnoses=tuple(_explained(n, by_name[n.name]) for n in named),
            inherits=carried.helpers,
            carried=carried.credit,
        )

    def _priced(
        self, exercise: str, named: list[Named], ran: list[Ran], files: Mapping[str, bytes]
    ) -> dict[str, frozenset[str]]:
        """Those mistakes beside which the rest of the exercise is there, and where that is seen."""
        found = {n.name: n.tests for n in named}
        if not named or self.scoring.by != "mistakes":
            return found
        bank, right = self.runs.of_misconceptions(exercise), self.runs.right_answers(exercise)
        empty = {name: without_work(ran, bank[name], right) for name in found}
        found = {n: found[n] - tests for n, tests in empty.items() if tests is not None}
        if found and any(r.report.verdict.failed and r.flaw is Flaw.STATE for r in ran):
            source = self._lines(files)

            def run(target: Target) -> list[Ran]:
                return self.runs.run(target, source, exercise, files)

            def wrong() -> Iterator[Target]:
                for one in self.bank.of_exercise(exercise):
                    if one.name in found:
                        yield InProcess(self.runs.written(f"-fitted-{one.name}", one.source))

            hollow = empty_when_fitted(self.target(files), run, wrong)
            found = {name: tests - hollow for name, tests in found.items()}
        return found

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
