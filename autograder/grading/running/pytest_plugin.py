"""The pytest plugin: axes, fixtures, and a run loop that meets one submission after another.

The hidden graders are collected once. For every submission the same items run again with other
targets behind the fixtures. What a test raises becomes a verdict here, and only here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from _pytest.runner import runtestprotocol

from ...model.device_axes import AXES, CPU
from ...model.errors import EngineError
from ...model.report.schema import TestReport, base_of
from ...model.report.verdicts import Verdict
from ...sandbox import SandboxError
from ...worker.protocol.dtypes import DEFAULT_DTYPE, TEST_DTYPES
from ...worker.protocol.values import TORCH_DTYPES
from ..assertions.agree import Agree
from ..assertions.calls import Calls, Count
from ..assertions.case import Case, Device, Side
from ..assertions.inputs import Draw
from ..assertions.refuse import Refuses
from ..disclosure.allowed_words import Echo
from ..disclosure.signatures import Names
from ..outcomes import Flaw, NotRun, Outcome, Unseeded, Wrong, printable
from ..targets.byte_quota import KEPT_BYTES, Room
from ..targets.in_process import Answer, Target
from ..targets.sandboxed import Sandboxed
from .answer_trie import PASSED, End, Meeting, Memory
from .author_errors import cannot_be_collected, let_go, told
from .memory_ceiling import machine_is_short

# Raised by what a test runs on, whoever is graded: the machine, the sandbox, an unseeded test.
_NEVER_THE_STUDENTS = (SandboxError, OSError, EngineError, Unseeded)


@dataclass
class Ran:
    """One hidden test against one submission: the report and every answer it got.

    `flaw` says what of a wrong result is wrong.
    `fault` says why it ended without a verdict. It is `in_doubt` where what the submission
    answered may have led the test there, and not what the test runs on.
    """

    report: TestReport
    exercise: str
    answers: list[Answer | Outcome]
    fault: str = ""
    in_doubt: bool = False
    flaw: Flaw = Flaw.CLAIM


@dataclass(frozen=True)
class Known:
    """What is known of a hidden test before it runs: `report` is what every report on it says."""

    report: TestReport
    exercise: str
    device: str
    dtype: str

    def lacking(self) -> NotRun | None:
        """The end of a test whose float type its device does not have."""
        lacks = self.dtype in AXES[self.device].lacks
        return NotRun(f"{self.device} has no {self.dtype}.") if lacks else None


class GraderPlugin:
    """Collects hidden graders once and runs them against any target."""

    def __init__(
        self,
        module: str,
        exercises: tuple[str, ...],
        patterns: dict[str, tuple[str, ...]],
        devices: tuple[str, ...],
        secret: bytes,
        reference: Target,
        precise: Target,
        solution: str = "",
    ) -> None:
        self.names = Names(solution)
        self.module, self.exercises, self.patterns = module, exercises, patterns
        self.devices, self.secret = devices, secret
        self._reference, self._precise = reference, precise
        self.session: pytest.Session | None = None
        self.collect_errors: list[str] = []
        self.loop: Callable[[pytest.Session], None] = lambda session: None
        self._memory = Memory()
        self._known: dict[Any, Known] = {}
        self._student: Target | None = None
        self._source: tuple[str, ...] = ()
        self._echo = Echo(())
        self._case: Case | None = None
        self._settled: Mapping[str, Outcome] = {}
        self._raised: BaseException | None = None
        self._kept = Room(KEPT_BYTES)

    # Collection

    def pytest_configure(self, config: pytest.Config) -> None:
        for line in (
            "weight(points, elsewhere): this test's share within its exercise (default 1), and on "
            "other devices than the CPU (default the same)",
            "public: messages of this test may show its inputs",
            "dtypes(*names): the dtypes this test runs in",
        ):
            config.addinivalue_line("markers", line)

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
            self.collect_errors.append(cannot_be_collected(call.excinfo.value, graders))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session = session
        self.loop(session)
        return True

    # Fixtures

    @pytest.fixture
    def case(self) -> Case:
        assert self._case is not None
        return self._case

    @pytest.fixture
    def submission(self, case: Case) -> Calls:
        return Calls(case, case.student)

    @pytest.fixture
    def reference(self, case: Case) -> Calls:
        return Calls(case, case.reference)

    @pytest.fixture
    def agree(self, case: Case) -> Agree:
        return Agree(case)

    @pytest.fixture
    def refuses(self, case: Case) -> Refuses:
        return Refuses(case)

    @pytest.fixture
    def count(self, case: Case) -> Count:
        return Count(case)

    @pytest.fixture
    def draw(self, case: Case) -> Draw:
        return case.draw

    # Running

    def items(self) -> list[pytest.Function]:
        assert self.session is not None
        return [i for i in self.session.items if isinstance(i, pytest.Function)]

    def run(
        self,
        student: Target,
        source: tuple[str, ...],
        items: list[Any],
        settled: Mapping[str, Outcome],
        keep_passed: bool = False,
    ) -> Iterator[Ran]:
        """Run the items against a target, in order, one report each.

        `settled` holds the exercises whose verdict is known without running anything. Of tests
        that pass, the answers are dropped, unless `keep_passed`.
        """
        self._student, self._source, self._settled = student, source, settled
        self._kept, self._echo = Room(KEPT_BYTES), Echo(source)
        try:
            for number, item in enumerate(items):
                if isinstance(student, Sandboxed) and student.listens_ahead:
                    self._tell_ahead(student, items[number:])
                yield self._run_one(item, keep_passed)
        finally:
            self._raised = self._case = None  # nor anything else of this submission

    def _tell_ahead(self, student: Sandboxed, items: list[Any]) -> None:
        """What the next tests of an exercise will ask, where nothing was told yet."""
        exercise = self.known(items[0]).exercise
        if not student.expects(exercise) and exercise not in self._settled:
            tests = takewhile(lambda known: known.exercise == exercise, map(self.known, items))
            names = [known.report.name for known in tests if known.lacking() is None]
            student.expect(self._memory.expected(names))

    def _run_one(self, item: Any, keep_passed: bool) -> Ran:
        known = self.known(item)
        exercise, name = known.exercise, known.report.name
        assert self._student is not None
        meeting = self._memory.meeting(name, self._student, self._echo, self._kept)
        meeting.begin(name, exercise)
        settled = self._raised = self._settled.get(exercise) or known.lacking()
        end = None if settled else meeting.known()
        if end is not None and end.wrong is not None:
            self._raised = Wrong(end.wrong, end.flaw)
        if end is None and settled is None:
            self._case = self._new_case(known, meeting)
            self._play(item)
        verdict, message, fault = self._judge(name, item.path.parent)
        flaw = _flaw_of(self._raised)
        if end is None and verdict.follows_from_answers:
            meeting.remember(PASSED if verdict is Verdict.PASS else End(message, flaw))
        meeting.end(verdict is Verdict.PASS)
        line = self._raised.line if isinstance(self._raised, Outcome) else 0
        in_doubt = bool(fault) and not _is_never_the_students(self._raised)
        let_go(self._raised)
        report = known.report
        if verdict is not Verdict.PASS:
            report = msgspec.structs.replace(report, verdict=verdict, message=message, line=line)
        if verdict is Verdict.PASS and not keep_passed:
            meeting.release()
        return Ran(report, exercise, meeting.answers, fault, in_doubt, flaw)

    def name(self, item: Any) -> str:
        return self.known(item).report.name

    def _play(self, item: Any) -> None:
        """Run the case that is set up; what is raised is kept."""
        assert self._case is not None
        self._case.begin()
        # Whether the next test will run is not known yet, so nothing is left set up for it.
        runtestprotocol(item, log=False, nextitem=None)
        self._case.end()

    def known(self, item: Any) -> Known:
        """What is known of a test, worked out once."""
        known = self._known.get(item)
        if known is None:
            report = TestReport(
                name=test_name(item),
                verdict=Verdict.PASS,
                weight=_weight(item),
                message="",
                public=item.get_closest_marker("public") is not None,
                claim=_claim(item),
            )
            known = self._known[item] = Known(report, exercise_of(item), *_place(item))
        return known

    def pytest_runtest_makereport(self, item: Any, call: Any) -> pytest.TestReport:
        """Keep what was raised; a full report with its traceback would cost more than the test."""
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

    def by_hand(self, item: Any, student: Target, source: tuple[str, ...]) -> Case:
        """A case for a test that pytest runs on its own; `source`: the lines of what it tests."""
        self._source = source
        known = self.known(item)
        meeting = Memory().meeting(known.report.name, student, self._echo)
        meeting.begin(known.report.name, known.exercise)
        return self._new_case(known, meeting)

    def _new_case(self, known: Known, student: Meeting) -> Case:
        exercise, name, device, dtype = known.exercise, known.report.name, known.device, known.dtype
        reference_device = CPU
        return Case(
            test=name,
            exercise=exercise,
            module=self.module,
            patterns=self.patterns.get(exercise, ()),
            device=device,
            dtype=dtype,
            public=known.report.public,
            draw=Draw(self.secret, f"{self.module}:{base_of(name)}", dtype),
            student=Side(student, device, is_reference=False, source=self._source),
            reference=Side(self._reference, reference_device),
            precise=Side(self._precise, reference_device, wide=True),
            names=self.names,
        )

    def _judge(self, name: str, graders: Path) -> tuple[Verdict, str, str]:
        raised = self._raised
        if raised is None:
            return Verdict.PASS, "", ""
        if isinstance(raised, Outcome):
            return raised.verdict, raised.message, ""
        if isinstance(raised, AssertionError) and raised.args:
            return Verdict.WRONG, printable(str(raised.args[0]))[:500], ""
        return Verdict.GRADER_FAULT, "", told(name, raised, graders, known=self.exercises)


def _flaw_of(raised: BaseException | None) -> Flaw:
    return raised.flaw if isinstance(raised, Wrong) else Flaw.CLAIM


def _is_never_the_students(error: BaseException | None) -> bool:
    """Return whether this would have been raised whoever is graded."""
    return isinstance(error, _NEVER_THE_STUDENTS) or (
        isinstance(error, MemoryError) and machine_is_short()
    )


def exercise_of(item: Any) -> str:
    """`test_softmax.py` grades `softmax`."""
    return str(item.path.stem).removeprefix("test_")


def test_name(item: Any) -> str:
    return f"{item.path.name}::{item.name}"


def _place(item: Any) -> tuple[str, str]:
    """The device and the float type of a test on its axes."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    device = str(parameters.get("device", CPU))
    if "dtype" in parameters:
        return device, str(parameters["dtype"]).removeprefix("torch.")
    return device, (_dtypes(item) or (DEFAULT_DTYPE,))[0]


def _weight(item: Any) -> float:
    """What a test counts within its exercise, on the device that it runs on."""
    mark = item.get_closest_marker("weight")
    if mark is None:
        return 1.0
    here: float = mark.args[0]
    return float(here if _place(item)[0] == CPU else mark.kwargs.get("elsewhere", here))


def _dtypes(item: Any) -> tuple[str, ...]:
    marker = item.get_closest_marker("dtypes")
    return tuple(marker.args) if marker else ()


def _claim(item: Any) -> str:
    """The first paragraph of the test's docstring, for the student."""
    text = inspect.getdoc(item.function) or ""
    return " ".join(text.split("\n\n")[0].split())
