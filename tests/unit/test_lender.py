"""A lent helper's answer: as large as the solution's own may be, and no larger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.grading.lender import Lender, Patience, Unanswered
from autograder.grading.lent import lent_function
from autograder.grading.targets import Answer
from autograder.worker import wire
from autograder.worker.values import Encoder


class _Answers:
    """A target whose every call is answered by the same value."""

    attempts: tuple[str, ...] = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def begin(self, test: str, exercise: str) -> None: ...

    def request(self, frame: bytes) -> Answer:
        encoder = Encoder()
        value = encoder(self.value)
        reply = wire.Reply("ok", value=value, buffers=tuple(map(len, encoder.buffers)))
        return reply, [memoryview(b) for b in encoder.buffers]

    def close(self) -> None: ...


def lent(value: Any, own: Callable[..., Any] = lambda x: x) -> Any:
    lender = Lender(_Answers(value), Patience(1.0, 1.0))
    return lent_function(lender, "helper", own)(torch.ones(4, 6))


@pytest.mark.parametrize(
    "value",
    [torch.ones(4, 6), torch.ones(24, 1), torch.ones(1, 6, 4), torch.ones(5, 4, 6), torch.ones(4)],
    ids=str,
)
def test_an_answer_of_about_that_size_is_taken(value: torch.Tensor) -> None:
    assert torch.equal(lent(value), value)


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(24_000, 1),
        torch.zeros(0, 200_000),
        torch.ones(1).expand(4096, 4096),
        [torch.ones(4, 6)] * 20,
        10**9,
        -(10**300),
        "x" * 1000,
        {"a": torch.ones(1000)},
    ],
    ids=["rows", "empty", "expanded", "many", "number", "huge number", "text", "mapping"],
)
def test_an_answer_that_makes_the_solution_work_without_end_is_none(value: Any) -> None:
    with pytest.raises(Unanswered):
        lent(value)


def test_an_answer_may_be_as_large_as_the_solutions_own() -> None:
    table = torch.ones(100, 100)
    assert torch.equal(lent(table, own=lambda x: torch.ones(100, 100)), table)


def test_without_an_answer_of_its_own_the_arguments_are_the_measure() -> None:
    def own(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("another helper's answer was odd")

    assert lent(torch.ones(6, 4), own).shape == (6, 4)
    with pytest.raises(Unanswered):
        lent(torch.ones(1000), own)


def test_the_solutions_own_draws_nothing_from_the_global_generator() -> None:
    before = torch.get_rng_state()
    lent(torch.ones(4, 6), own=lambda x: torch.rand_like(x))
    assert torch.equal(before, torch.get_rng_state())


def test_work_is_paid_by_the_time_that_it_has_a_processor() -> None:
    patience = Patience(10.0, 0.001)
    with patience.working():
        sum(range(10**6))
    assert patience.over
