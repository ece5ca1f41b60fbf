"""Right code that neglects a helper: what the guard of follow-through must tell from the right."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from autograder.grading.neglect import Neglect, neglecting, neglects

SOURCE = """
def masked(scores, mask, dim=-1):
    return scores

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()

    def forward(self, x, mask=None):
        return x

other = masked
"""


def masked(scores, mask, dim=-1):
    return scores, mask, dim


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x, causal=False):
        return x * self.weight * (3 if causal else 2)


def neglected(helper: str, parameter: str = "") -> SimpleNamespace:
    module = SimpleNamespace(masked=masked, Block=Block)
    neglecting(Neglect(helper, parameter), b"nobody knows")(module)
    return module


def test_a_function_can_be_left_out_and_so_can_each_of_its_arguments() -> None:
    ways = neglects(SOURCE, ["masked"])
    assert [w.parameter for w in ways] == ["", "scores", "mask", "dim"]


def test_of_a_module_the_arguments_of_forward_count() -> None:
    assert [w.parameter for w in neglects(SOURCE, ["Block"])] == ["", "x", "mask"]


def test_a_name_for_another_function_has_no_arguments_of_its_own() -> None:
    assert neglects(SOURCE, ["other", "missing"]) == []


@pytest.mark.parametrize("entries", [torch.arange(30.0).reshape(5, 6), np.arange(30.0)])
def test_in_the_place_of_an_array_stand_its_entries_in_another_order(entries) -> None:
    other = neglected("masked", "mask").masked(0, entries)[1]
    assert not (other == entries).all()
    assert sorted(other.reshape(-1).tolist()) == list(range(30))


def test_the_order_is_the_same_for_right_and_for_lent_helpers() -> None:
    entries = torch.arange(30.0)
    one, other = (neglected("masked", "scores").masked(entries, 0)[0] for _ in range(2))
    assert torch.equal(one, other)


def test_what_is_no_array_has_its_default_again() -> None:
    assert neglected("masked", "dim").masked(1, 2, dim=0) == (1, 2, -1)


def test_a_truth_value_is_the_other_one() -> None:
    assert neglected("masked", "dim").masked(1, 2, dim=True) == (1, 2, False)


def test_who_does_not_call_a_function_goes_on_with_its_argument() -> None:
    x = torch.arange(4.0)
    (scores, mask, _) = neglected("masked").masked(x + 1, x)
    assert torch.equal(scores, x + 1)
    assert torch.equal(mask, x + 1)  # the first argument of that shape


@pytest.mark.parametrize(("parameter", "times"), [("", 1), ("causal", 3)])
def test_a_module_is_neglected_with_its_parameters_in_place(parameter: str, times: int) -> None:
    block = neglected("Block", parameter).Block()
    assert list(block.state_dict()) == ["weight"]
    assert torch.equal(block(torch.ones(2), causal=False), torch.full((2,), float(times)))
