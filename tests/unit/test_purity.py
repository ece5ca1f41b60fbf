"""What a call changed beside its result is noticed, by reading states where they lie."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from autograder.worker.purity import Before


@pytest.mark.parametrize(
    ("change", "effect"),
    [
        (lambda: random.random(), "Python's global random state"),
        (lambda: random.gauss(0.0, 1.0), "Python's global random state"),
        (lambda: random.seed(3), "Python's global random state"),
        (lambda: np.random.rand(), "numpy's global random state"),
        (lambda: torch.rand(1), "torch's global random state"),
    ],
)
def test_a_draw_from_a_global_generator_is_seen(change, effect) -> None:
    before = Before([], [], {})
    change()
    assert before.compare() == ((), (effect,))


def test_a_second_gauss_is_seen_though_it_draws_nothing() -> None:
    random.seed(1)
    random.gauss(0.0, 1.0)
    before = Before([], [], {})
    random.gauss(0.0, 1.0)
    assert before.compare() == ((), ("Python's global random state",))


def test_nothing_is_seen_where_nothing_was_drawn() -> None:
    assert Before([], [], {}).compare() == ((), ())
