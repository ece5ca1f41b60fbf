"""Test that findings for one submission are reused for others with the same cause."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.localization.class_causes import (
    FailureCause,
    KnownCauses,
    Places,
    cause_of,
)
from autograder.grading.running.pytest_plugin import Ran
from autograder.grading.targets.in_process import Answer
from autograder.model.report import schema as reports
from autograder.model.report.schema import Suspect
from autograder.model.report.verdicts import Verdict
from autograder.repair import normal_form
from autograder.worker.protocol.frames import Reply
from autograder.worker.protocol.values import Encoder

MEAN = """def mean(x, dim=-1):
    total = x.sum(-1)
    return total / x.shape[dim]
"""
MOVED = f"# mine\n\n{MEAN}".replace("total", "s")
FOUND = (Suspect("m.py", 2, "mean", "axis"),)
X = torch.tensor([1.0, 2.0, 3.0])


def answer(x: torch.Tensor) -> Answer:
    encoder = Encoder()
    value = encoder(x)
    buffers = [memoryview(bytes(b)) for b in encoder.buffers]
    return Reply("ok", value=value, buffers=tuple(map(len, buffers))), buffers


def cause(
    source: str = MEAN, x: torch.Tensor = X, name: str = "t", named: bool = False, whole: int = 0
) -> FailureCause:
    report = reports.TestReport(name, Verdict.WRONG, 1.0, "")
    return cause_of(
        "mean", normal_form(source, "mean"), [Ran(report, "mean", [answer(x)])], named, whole
    )


def known() -> KnownCauses:
    causes = KnownCauses()
    causes.put(cause(), FOUND)
    return causes


def test_what_says_and_answers_the_same_has_its_mistake_in_the_same_place() -> None:
    found = known().get(cause(MOVED, X * (1 + 1e-7)))
    assert found == (Suspect("m.py", 4, "mean", "axis"),)


@pytest.mark.parametrize(
    "other",
    [
        cause(x=X + 0.01),
        cause(x=X[:2]),
        cause(x=X.double()),
        cause(name="another test"),
        cause(named=True),
        cause(MEAN.replace("sum", "mean")),
    ],
)
def test_any_difference_makes_another_cause(other: FailureCause) -> None:
    assert known().get(other) is None


@pytest.mark.parametrize("found", [FOUND, ()])
def test_what_was_found_holds_for_modules_that_are_alike(found: Places) -> None:
    causes = KnownCauses()
    causes.put(cause(), found)
    assert causes.get(cause()) == found
    assert causes.get(cause(whole=1)) is None


def test_only_lines_are_tried_in_modules_that_differ() -> None:
    assert known().get(cause(whole=1), whole=False) == FOUND
    causes = KnownCauses()
    causes.put(cause(), ())
    assert causes.get(cause(whole=1), whole=False) is None


def test_a_module_that_cannot_be_read_is_like_no_other() -> None:
    causes = KnownCauses()
    causes.put(cause("def mean("), ())
    assert causes.get(cause("def mean(")) is None


def test_a_place_that_others_cannot_know_is_not_kept() -> None:
    causes = KnownCauses()
    causes.put(cause(), (Suspect("m.py", 77, "mean", "axis"),))
    assert causes.get(cause()) is None
