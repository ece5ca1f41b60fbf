"""Test the choice of adapters by failed tests."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.diagnosis.probes import Probe
from autograder.grading.localization.ranking import Clues
from autograder.grading.outcomes import Flaw
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.targets.in_process import Answer
from autograder.model.report.schema import TestReport as Reported
from autograder.model.report.verdicts import Verdict
from autograder.repair.adapters import AXES, IN_PLACE, LENGTH, MEMORY, TYPES, WIDTH
from autograder.worker.protocol import frames
from autograder.worker.protocol.values import Encoder

PARTS = "not enough values to unpack (expected 3, got 2)"
SIZES = "The size of tensor a (5) must match the size of tensor b (3) at non-singleton dimension 1"
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
def test_failed_tests_ask_for_adapters(run: Ran, kinds: set[str]) -> None:
    probes = {"t": Probe("t", [(b"", answer(NUMBERS))])}
    assert {kind for kind, _ in Clues([run], probes).adapters(1)} == kinds


def test_the_memory_layout_is_adapted_if_most_tests_pass() -> None:
    run = wrong(Flaw.VALUE, answer(NUMBERS))
    assert [*Clues([run], {}).adapters(9)] == [(MEMORY, 0)]
