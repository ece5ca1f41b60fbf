"""The pytest plugin that runs collected hidden tests and turns their exceptions into verdicts.

The same pytest items run for every submission, each time with a different target behind the
fixtures. Verdicts are set here; `test_runner.Runs.run` only turns some faults into failures.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from msgspec.structs import replace

from ...model.availability import AXES, CPU
from ...model.course import Week
from ...model.errors import EngineError
from ...model.report.schema import TestReport, Verdict, base_of
from ...worker.protocol.dtypes import DEFAULT_DTYPE, TEST_DTYPES
from ...worker.protocol.frames import Answer, Raised, Reply
from ...worker.protocol.values import TORCH_DTYPES
from ..assertions.case import Case, Device, Side
from ..assertions.inputs import Draw
from ..disclosure.allowed_words import AllowedWords
from ..disclosure.signatures import Signatures
from ..outcomes import Flaw, NotRun, Outcome, Unseeded, clear_frames, printable
from ..targets.in_process import Target
from ..targets.resource_limits import KEPT_BYTES, ByteQuota, machine_is_short
from ..targets.sandboxed import Sandboxed
from . import fixtures
from .answer_trie import PASSED, AnswerTries, End
from .fixtures import describe_collection_error, describe_fault

_LONGEST_ASSERTION = 500
# Errors caused by the machine, the sandbox or an unseeded test, never by a submission.
_SYSTEM_ERRORS = (EngineError, OSError, Unseeded)


@dataclass
class Ran:
    """The result of one hidden test for one submission.

    answers:  the submission's replies, or an Outcome for each failed call; [] after a pass
    fault:    the reason why the test ended without a verdict, or "" if it has a verdict
    in_doubt: whether the submission's replies may have caused the fault
    flaw:     the property of the result that made the test fail; CLAIM for other verdicts
    """

    report: TestReport
    exercise: str
    answers: list[Answer | Outcome]
    fault: str = ""
    in_doubt: bool = False
    flaw: Flaw = Flaw.CLAIM

    @property
    def last_answer(self) -> Answer | Outcome | None:
        return self.answers[-1] if self.answers else None

    @property
    def last_reply(self) -> Reply | None:
        """The reply to the last call, or None if there is no call or it ended in an Outcome."""
        return self.last_answer[0] if isinstance(self.last_answer, tuple) else None

    @property
    def last_raised(self) -> Raised | None:
        """The exception that the last call raised, or None."""
        return self.last_reply.raised if self.last_reply is not None else None


@dataclass(frozen=True)
class Known:
    """The properties of a hidden test. `report`: the report of a submission that passes."""

    report: TestReport
    exercise: str
    device: str
    dtype: str

    def lacking(self) -> NotRun | None:
        """Return NotRun if the device lacks the test's float type, otherwise None."""
        lacks = self.dtype in AXES[self.device].lacks
        return NotRun(f"{self.device} has no {self.dtype}.") if lacks else None


class GraderPlugin:
    """Runs the hidden tests of a week on any target.

    secret:    the seed from which tests draw their inputs
    reference: a target that runs the solution
    precise:   a target that runs the solution for calls in float64
    solution:  the source of the solution's module
    """

    def __init__(
        self,
        week: Week,
        devices: tuple[str, ...],
        secret: bytes,
        reference: Target,
        precise: Target,
        solution: str,
    ) -> None:
        self.module, self.exercises = week.module, tuple(e.name for e in week.exercises)
        self._patterns = {name: week.patterns(name) for name in self.exercises}
        self.signatures = Signatures(solution)
        self.devices, self.secret = devices, secret
        self.items: list[pytest.Function] = []
        self.collect_errors: list[str] = []
        self._reference, self._precise = reference, precise
        self._tries = AnswerTries()
        self._known: dict[Any, Known] = {}
        # State of the current submission:
        self._source: tuple[str, ...] = ()
        self._words = AllowedWords(())
        self._settled: Mapping[str, Outcome] = {}
        self._quota = ByteQuota(KEPT_BYTES)
        # State of the current test:
        self._case: Case | None = None
        self._raised: BaseException | None = None

    # Collection

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(fixtures)
        add_markers(config)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "dtype" in metafunc.fixturenames:
            names = _dtypes(metafunc.definition) or TEST_DTYPES
            values = [TORCH_DTYPES[n] for n in names]
            metafunc.parametrize("dtype", values, ids=names)
        if "device" in metafunc.fixturenames:
            devices = [Device(d) for d in self.devices]
            metafunc.parametrize("device", devices, ids=self.devices)

    def pytest_exception_interact(
        self, node: Any, call: pytest.CallInfo[Any], report: object
    ) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            graders = Path(node.config.rootpath)
            self.collect_errors.append(describe_collection_error(call.excinfo.value, graders))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Store the collected tests and end pytest's own run."""
        self.items = [i for i in session.items if isinstance(i, pytest.Function)]
        return True

    @pytest.fixture
    def case(self) -> Case:
        assert self._case is not None
        return self._case

    # Running

    @contextmanager
    def drawing(self, secret: bytes | None) -> Iterator[None]:
        """Draw inputs from a different seed in this context, or from the usual one if None."""
        before = self.secret, self._tries
        if secret is not None:
            self.secret, self._tries = secret, AnswerTries()
        try:
            yield
        finally:
            self.secret, self._tries = before

    def run(
        self,
        student: Target,
        source: tuple[str, ...],
        items: list[Any],
        settled: Mapping[str, Outcome],
    ) -> Iterator[Ran]:
        """Run the items on a target, in order, and yield the result of each item.

        source:  the lines of the submission's module
        settled: the outcomes of exercises whose tests need not run
        """
        self._source, self._settled = source, settled
        self._quota, self._words = ByteQuota(KEPT_BYTES), AllowedWords(source)
        try:
            for number, item in enumerate(items):
                if isinstance(student, Sandboxed) and student.listens_ahead:
                    self._send_ahead(student, items[number:])
                yield self._run_one(student, item)
        finally:
            self._raised = self._case = None  # free the submission's values

    def _send_ahead(self, student: Sandboxed, items: list[Any]) -> None:
        """Tell the target which calls to expect in the remaining tests of the exercise."""
        exercise = self.known(items[0]).exercise
        if not student.expects(exercise) and exercise not in self._settled:
            tests = takewhile(lambda known: known.exercise == exercise, map(self.known, items))
            names = [known.report.name for known in tests if known.lacking() is None]
            student.expect(self._tries.expected(names))

    def _run_one(self, student: Target, item: Any) -> Ran:
        known = self.known(item)
        exercise, name = known.exercise, known.report.name
        target = self._tries.target(name, student, self._words, self._quota)
        target.begin(name, exercise)
        settled = self._raised = self._settled.get(exercise) or known.lacking()
        stored = None if settled else target.follow()
        if stored is None and settled is None:
            self._case = self.new_case(item, target, self._source)
            self._case.begin()
            # `pytest_runtest_makereport` stores the exception; None tears down all fixtures.
            runtestprotocol(item, log=False, nextitem=None)
        raised = self._raised
        end, fault = (stored, "") if stored else self._judge(name, item.path.parent)
        passed = end is PASSED
        if stored is None and end.verdict.follows_from_answers:
            target.store(end)
        target.end(passed)
        report = known.report
        if not passed:
            line = raised.line if isinstance(raised, Outcome) else 0
            report = replace(report, verdict=end.verdict, message=end.message, line=line)
        else:
            target.release()
        of_machine = isinstance(raised, MemoryError) and machine_is_short()
        in_doubt = bool(fault) and not (of_machine or isinstance(raised, _SYSTEM_ERRORS))
        clear_frames(raised)
        return Ran(report, exercise, target.answers, fault, in_doubt, end.flaw)

    def name(self, item: Any) -> str:
        return self.known(item).report.name

    def known(self, item: Any) -> Known:
        known = self._known.get(item)
        if known is None:
            report = TestReport(
                name=f"{item.path.name}::{item.name}",
                verdict=Verdict.PASS,
                weight=_weight(item),
                message="",
                public=item.get_closest_marker("public") is not None,
                claim=_claim(item),
            )
            known = self._known[item] = Known(report, exercise_of(item), *_place(item))
        return known

    def pytest_runtest_makereport(self, item: Any, call: Any) -> pytest.TestReport:
        """Store the first exception; return an empty report, because a full one takes too long."""
        if call.excinfo is not None and self._raised is None:
            self._raised = call.excinfo.value
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed",
            longrepr=None,
            when=call.when,
        )

    def new_case(self, item: Any, student: Target, source: tuple[str, ...]) -> Case:
        """Create the `Case` that a test runs in. `source`: the lines of the student's module."""
        known = self.known(item)
        name = known.report.name
        return Case(
            test=name,
            exercise=known.exercise,
            module=self.module,
            patterns=self._patterns[known.exercise],
            device=known.device,
            dtype=known.dtype,
            draw=Draw(self.secret, f"{self.module}:{base_of(name)}", known.dtype),
            student=Side(student, known.device, is_reference=False, source=source),
            reference=Side(self._reference, CPU),
            precise=Side(self._precise, CPU, in_float64=True),
            signatures=self.signatures,
        )

    def _judge(self, name: str, graders: Path) -> tuple[End, str]:
        """Return the outcome of the test that has run, and the fault of the test or ""."""
        raised = self._raised
        if raised is None:
            return PASSED, ""
        if isinstance(raised, Outcome):
            return End(raised.verdict, raised.message, raised.flaw), ""
        if isinstance(raised, AssertionError) and raised.args:
            message = printable(str(raised.args[0]))[:_LONGEST_ASSERTION]
            return End(Verdict.WRONG, message), ""
        fault = describe_fault(name, raised, graders, self.exercises)
        return End(Verdict.GRADER_FAULT), fault


def add_markers(config: pytest.Config) -> None:
    for line in (
        "weight(points, elsewhere): this test's share within its exercise (default 1), and on "
        "devices other than the CPU (default the same)",
        "public: messages of this test may show its inputs",
        "dtypes(*names): the dtypes this test runs in",
    ):
        config.addinivalue_line("markers", line)


def exercise_of(item: Any) -> str:
    """Return the exercise of a test, such as `softmax` for a test in `test_softmax.py`."""
    return str(item.path.stem).removeprefix("test_")


def _place(item: Any) -> tuple[str, str]:
    """Return the device and the float type of a test."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    device = str(parameters.get("device", CPU))
    if "dtype" in parameters:
        return device, str(parameters["dtype"]).removeprefix("torch.")
    return device, (_dtypes(item) or (DEFAULT_DTYPE,))[0]


def _weight(item: Any) -> float:
    """Return the weight of a test within its exercise, on the test's device."""
    mark = item.get_closest_marker("weight")
    if mark is None:
        return 1.0
    here: float = mark.args[0]
    return float(here if _place(item)[0] == CPU else mark.kwargs.get("elsewhere", here))


def _dtypes(item: Any) -> tuple[str, ...]:
    marker = item.get_closest_marker("dtypes")
    return tuple(marker.args) if marker else ()


def _claim(item: Any) -> str:
    """Return the requirement that students read: the first paragraph of the test's docstring."""
    text = inspect.getdoc(item.function) or ""
    return " ".join(text.split("\n\n")[0].split())
