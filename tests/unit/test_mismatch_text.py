"""Test the sentence that describes a deviation: its position and its pattern."""

from __future__ import annotations

import pytest
import torch

from autograder.grading.assertions.value_comparison import explain_difference
from autograder.grading.disclosure.signatures import Signatures

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
        (EXPECTED.flip(-1), "different order"),
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


def test_swapped_booleans_are_said() -> None:
    mask = torch.tensor([True, False, True])
    assert "swapped" in said(~mask, mask)


@pytest.mark.parametrize("where", ["`output`", "The gradient of `f` for `x`"])
def test_rows_of_what_is_no_share_need_not_sum_to_one(where: str) -> None:
    actual = EXPECTED.roll(1, -1) * torch.tensor([2.0, 3.0, 4.0])
    off = actual != EXPECTED
    assert "sum to 1" in explain_difference(actual, EXPECTED, off, "`weights`")
    assert "sum to 1" not in explain_difference(actual, EXPECTED, off, where)


def test_rows_of_what_a_module_returns_need_not_sum_to_one() -> None:
    names = Signatures("class Block:\n    def forward(self, x): ...\n")
    where = names.result("Block", "The result of `Block`")
    actual = EXPECTED * torch.tensor([2.0, 3.0, 4.0])
    assert "sum to 1" not in explain_difference(actual, EXPECTED, actual != EXPECTED, where)


def test_one_row_may_sum_to_one_by_chance() -> None:
    assert "sum to 1" not in said(EXPECTED[:1] * torch.tensor([2.0, 3.0, 4.0]), EXPECTED[:1])


def test_ids_are_never_nearly_right() -> None:
    right = torch.tensor([[0, 5000, 7], [0, 6000, 8]])
    for wrong in (right + torch.tensor([1, 0, 0]), right * 2, right + torch.tensor([0, 1, 0])):
        told = said(wrong, right)
        assert not any(word in told for word in ("exactly zero", "factor", "close"))
