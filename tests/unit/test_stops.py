"""The lines that failed tests speak of by themselves, and the wrappers that they ask for."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.diagnosis.equivalence import state_in_part
from autograder.grading.diagnosis.probes import Probe
from autograder.grading.localization.stops import needed, stops
from autograder.grading.outcomes import Flaw
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.targets.in_process import Answer
from autograder.model.report.schema import TestReport as Reported
from autograder.model.report.verdicts import Verdict
from autograder.repair.adapters import AXES, IN_PLACE, LENGTH, MEMORY, TYPES, WIDTH
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Encoder

SOURCE = """def f(q, k):
    b, n, d = q.shape
    if n > 9:
        raise ValueError(n)
    mask = torch.ones(n)
    return q + k
"""
PARTS = "not enough values to unpack (expected 3, got 2)"
SIZES = "The size of tensor a (5) must match the size of tensor b (3) at non-singleton dimension 1"
DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, cpu and x!"
)
NUMBERS = torch.ones(2, 3)


def answer(value: object, **fields: object) -> Answer:
    encoder = Encoder()
    reply = frames.Reply("ok", value=encoder(value), **fields)
    return reply, [memoryview(bytes(b)) for b in encoder.buffers]


def crashed(line: int, message: str, kind: str = "RuntimeError") -> Ran:
    raised = frames.Raised(kind, (kind, "Exception"), message, line)
    report = Reported(f"t{line}{message}", Verdict.CRASHED, 1.0, "It stops.", line=line)
    return Ran(report, "f", [(frames.Reply("raised", raised=raised), [])])


def wrong(flaw: Flaw, last: Answer) -> Ran:
    return Ran(Reported("t", Verdict.WRONG, 1.0, "It is wrong."), "f", [last], flaw=flaw)


def told(*failing: Ran, foreign: tuple[int, ...] = (), odd: int = 0) -> list[tuple[int, int]]:
    values = [("f", odd)] if odd else []
    places = stops(SOURCE, "m.py", failing, foreign, values)
    return [(p.line, p.explains) for p in places]


OTHER = [wrong(Flaw.VALUE, answer(NUMBERS))] * 3


def test_errors_that_say_why_have_their_line() -> None:
    assert told(crashed(2, PARTS), crashed(2, PARTS), *OTHER) == [(2, 2)]


def test_one_error_among_many_failures_is_not_told() -> None:
    assert told(crashed(2, PARTS), *OTHER) == []


def test_if_all_stops_there_nothing_is_counted() -> None:
    assert told(crashed(2, PARTS), crashed(2, PARTS)) == [(2, 0)]


@pytest.mark.parametrize(("odd", "places"), [(6, [(6, 2)]), (5, []), (0, [])])
def test_what_only_met_there_is_told_if_values_say_so_too(
    odd: int, places: list[tuple[int, int]]
) -> None:
    assert told(crashed(6, SIZES), crashed(6, SIZES), *OTHER, odd=odd) == places


def test_what_python_refuses_is_refused_there() -> None:
    assert told(*[crashed(6, "no len()", "TypeError")] * 2, *OTHER) == [(6, 2)]
    assert told(*[crashed(6, "no len()", "RuntimeError")] * 2, *OTHER) == []


def test_another_device_was_there_before() -> None:
    assert told(*[crashed(6, DEVICES)] * 2, *OTHER, odd=6) == []


def test_an_error_of_ones_own_has_the_line_of_its_condition() -> None:
    assert told(*[crashed(4, "9", "ValueError")] * 2, *OTHER) == [(3, 2)]


def test_lines_of_other_exercises_are_theirs() -> None:
    assert told(*[crashed(2, PARTS)] * 2, *OTHER, foreign=(2,)) == []


def test_another_error_than_the_one_asked_for_has_its_line() -> None:
    raised = frames.Raised("RuntimeError", ("RuntimeError", "Exception"), "no", 5)
    assert told(wrong(Flaw.REFUSAL, (frames.Reply("raised", raised=raised), []))) == [(5, 0)]


MODULE = "class f(nn.Module):\n    def __init__(self):\n        self.extra = nn.Linear(2, 2)\n"


def test_what_nobody_asked_for_has_the_line_that_makes_it() -> None:
    mismatch = frames.StateMismatch((), ("extra.weight", "extra.bias"), ())
    run = wrong(Flaw.STATE, answer(NUMBERS, mismatch=mismatch))
    (place,) = stops(MODULE, "m.py", [run], ())
    assert (place.line, place.kind) == (3, "makes")


def of_state(*unexpected: str, missing: tuple[str, ...] = ()) -> Ran:
    mismatch = frames.StateMismatch(missing, unexpected, ())
    return wrong(Flaw.STATE, answer(NUMBERS, mismatch=mismatch))


def test_parameters_that_do_not_fit_are_a_part_of_more() -> None:
    both = of_state("table", "head.bias")
    assert state_in_part(both, of_state("positions"))
    assert state_in_part(both, of_state("head.bias"))
    assert not state_in_part(of_state("head.bias"), both)
    assert not state_in_part(both, of_state(missing=("head.weight",)))
    assert not state_in_part(both, wrong(Flaw.VALUE, answer(NUMBERS)))


@pytest.mark.parametrize(
    ("run", "kinds"),
    [
        (crashed(2, PARTS), {AXES, WIDTH, LENGTH}),
        (crashed(2, SIZES), {WIDTH, LENGTH}),
        (crashed(2, "expected scalar type Float but found Half"), {TYPES}),
        (wrong(Flaw.KIND, answer(NUMBERS.double())), {TYPES}),
        (wrong(Flaw.KIND, answer(NUMBERS[None])), {AXES, WIDTH, LENGTH}),
        (wrong(Flaw.EFFECT, answer(NUMBERS)), {IN_PLACE}),
        (wrong(Flaw.VALUE, answer(NUMBERS)), set()),
    ],
)
def test_wrappers_are_tried_that_tests_ask_for(run: Ran, kinds: set[str]) -> None:
    probes = {"t": Probe("t", [(b"", answer(NUMBERS))])}
    assert {kind for kind, _ in needed([run], 1, probes)} == kinds


def test_memory_is_tried_where_most_tests_pass() -> None:
    run = wrong(Flaw.VALUE, answer(NUMBERS))
    assert [*needed([run], 9, {})] == [(MEMORY, 0)]
