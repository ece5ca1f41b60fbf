"""What a call changed beside its result is noticed, by reading states where they lie."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from autograder.worker.purity import Before
from autograder.worker.wire import Effect, SideEffect


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda: random.random(), Effect.PYTHON_RANDOM),
        (lambda: random.gauss(0.0, 1.0), Effect.PYTHON_RANDOM),
        (lambda: random.seed(3), Effect.PYTHON_RANDOM),
        (lambda: np.random.rand(), Effect.NUMPY_RANDOM),
        (lambda: torch.rand(1), Effect.TORCH_RANDOM),
    ],
)
def test_a_draw_from_a_global_generator_is_seen(change, effect) -> None:
    before = Before([], [], {})
    change()
    assert before.compare() == (SideEffect(effect),)


def test_a_second_gauss_is_seen_though_it_draws_nothing() -> None:
    random.seed(1)
    random.gauss(0.0, 1.0)
    before = Before([], [], {})
    random.gauss(0.0, 1.0)
    assert before.compare() == (SideEffect(Effect.PYTHON_RANDOM),)


def test_nothing_is_seen_where_nothing_was_drawn() -> None:
    assert Before([], [], {}).compare() == ()
