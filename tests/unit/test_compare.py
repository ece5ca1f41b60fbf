"""Test that comparison detects mistakes, tolerates rounding and does not reveal values."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.grading.assertions.value_comparison import compare
from autograder.grading.outcomes import BadReply, Wrong
from autograder.worker.protocol import frames


def message_of(actual, expected, precise=None, terms=0.0) -> str:
    with pytest.raises(Wrong) as caught:
        compare(actual, expected, precise, terms=terms)
    return caught.value.message


@pytest.fixture
def weights() -> torch.Tensor:
    torch.manual_seed(3)
    return torch.softmax(torch.randn(4, 6), -1)


def test_equal_results_agree(weights):
    compare(weights.clone(), weights, weights.double())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_another_order_of_summation_agrees_in_every_dtype(dtype):
    torch.manual_seed(0)
    x, y = torch.randn(40, 64).to(dtype), torch.randn(64, 30).to(dtype)
    one = x @ y
    other = sum(x[:, i : i + 8] @ y[i : i + 8] for i in range(0, 64, 8))
    precise = x.double() @ y.double()
    compare(other, one, precise)


@pytest.mark.parametrize("error", [1e-3, 1e-4])
def test_a_small_mistake_in_float32_is_seen(weights, error):
    assert "differs" in message_of(weights * (1 + error), weights, weights.double())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w.T.contiguous(), "should have shape (4, 6), but has (6, 4)"),
        (lambda w: w.double(), "should have dtype float32, but has float64"),
        (lambda w: w.numpy(), "should be a torch tensor, but is a numpy array"),
        (lambda w: None, "is a `return` missing?"),
        (lambda w: w * 2, "Rows should sum to 1 here, but one sums to 2"),
        (lambda w: -w, "The sign is flipped"),
        (lambda w: w.flip(-1), "The values are right, but in a different order"),
        (lambda w: torch.where(w > 0.3, torch.nan, w), "NaN"),
        (lambda w: torch.zeros_like(w), "All entries are zero"),
        (lambda w: w[0, 0], "should have shape (4, 6), but has ()"),
        (lambda w: (w, w), "should be a torch tensor, but is a tuple of 2"),
    ],
)
def test_the_message_says_what_is_off(weights, change, words):
    assert words in message_of(change(weights), weights)


def test_a_transposed_square_is_recognised():
    x = torch.randn(5, 5)
    assert "transposed" in message_of(x.T.contiguous(), x)


def test_one_factor_everywhere_is_recognised():
    x = torch.randn(5, 5)
    assert "off by the same factor" in message_of(x * 2.83, x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: -x, "The sign is flipped"),
        (lambda x: x.T.contiguous(), "it is transposed"),
        (lambda x: x * 1.7, "off by the same factor"),
        (lambda x: x.flip(-1), "in a different order"),
    ],
)
def test_rounding_hides_no_mistake_from_the_message(dtype, change, words):
    torch.manual_seed(0)
    x = torch.randn(5, 5, dtype=torch.float64)
    assert words in message_of(change(x).to(dtype), x.to(dtype), x)


def test_an_inverted_mask_is_recognised():
    mask = torch.rand(4, 5) > 0.5
    assert "True and False are swapped" in message_of(~mask, mask)


def test_entries_that_should_be_zero_are_named(weights):
    hidden = weights.clone()
    hidden[:, -1] = 0
    almost = hidden.clone()
    almost[:, -1] = 1e-5
    assert "exactly zero" in message_of(almost, hidden)


def test_no_message_shows_an_expected_or_hidden_value():
    torch.manual_seed(1)
    expected = torch.randn(3, 4)
    for actual in (expected + 1, expected.flip(0), expected * 3, torch.zeros(3, 4)):
        message = message_of(actual, expected)
        for value in [*expected.flatten().tolist(), *actual.flatten().tolist()]:
            assert f"{value:.3f}" not in message or value == 0


def test_something_that_is_not_plain_data_is_a_bad_reply():
    with pytest.raises(BadReply, match="'Liar' object"):
        compare(frames.OpaqueV("Liar"), torch.zeros(2))


def test_results_that_would_pass_by_broadcasting_are_wrong():
    ones = torch.ones(3, 4)
    for lazy in (torch.tensor(1.0), torch.ones(1), torch.ones(1, 4)):
        assert "should have shape" in message_of(lazy, ones)


def test_infinities_must_stand_where_they_should():
    expected = torch.tensor([-torch.inf, 1.0])
    compare(expected.clone(), expected)
    assert message_of(torch.tensor([-1e9, 1.0]), expected)
    assert message_of(torch.tensor([torch.inf, 1.0]), expected)


def test_numpy_results_keep_kind_and_dtype():
    expected = np.linspace(0, 1, 5, dtype=np.float32)
    compare(expected.copy(), expected)
    assert "numpy array" in message_of(torch.from_numpy(expected), expected)
    assert "dtype" in message_of(expected.astype(np.float64), expected)


def test_an_int_may_be_a_numpy_integer_but_not_a_float():
    compare(np.int64(4), 4)
    assert "should be an int" in message_of(4.0, 4)
    assert "should be an int" in message_of(True, 1)


def test_a_gradient_that_is_exactly_zero_allows_the_size_of_its_terms():
    rounding = torch.full((3,), 3e-8)
    compare(rounding, torch.zeros(3), torch.zeros(3), terms=1.0)
    assert message_of(torch.full((3,), 1e-3), torch.zeros(3), terms=1.0)


def test_text_is_compared_without_spaces_at_line_ends():
    compare("a  b\nc", "a  b   \nc ")
    assert "line 2 differs from column 1" in message_of("a\nb", "a\nc")


def test_a_result_that_is_close_is_called_close_and_nothing_else():
    # a nearly symmetric matrix is close to its transpose, too
    right = torch.full((4, 4), 0.25) + 1e-5 * torch.arange(16.0).view(4, 4)
    said = message_of(right * (1 + 3e-4), right)
    assert "close, but not accurate enough" in said
    assert "transposed" not in said
    assert "factor" not in said
