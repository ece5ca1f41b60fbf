"""The sentence that says how a result is off: where, and what pattern the difference has."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.observe import explain_difference

EXPECTED = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [0.05, 0.9, 0.05]])


def said(actual: torch.Tensor, expected: torch.Tensor = EXPECTED) -> str:
    off = ~torch.isclose(actual.double(), expected.double(), atol=1e-6)
    return explain_difference(actual, expected, off, "The result")


@pytest.mark.parametrize(
    ("actual", "words"),
    [
        (-EXPECTED, "sign"),
        (EXPECTED.T.contiguous(), "transposed"),
        (torch.zeros(3, 3), "zero"),
        (3 * EXPECTED, "factor"),
        (EXPECTED.flip(-1), "another order"),
    ],
)
def test_a_pattern_is_named(actual: torch.Tensor, words: str) -> None:
    assert words in said(actual)


def test_a_single_wrong_entry_is_placed() -> None:
    actual = EXPECTED.clone()
    actual[1, 2] = 0.9
    assert "index [1, 2]" in said(actual)


def test_nothing_of_what_is_expected_is_shown() -> None:
    actual = EXPECTED + 0.123
    assert not any(f"{v:.2g}" in said(actual) for v in EXPECTED.flatten().tolist())


def test_opposite_booleans_are_said() -> None:
    mask = torch.tensor([True, False, True])
    assert "opposite" in said(~mask, mask)
