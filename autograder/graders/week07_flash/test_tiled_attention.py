"""Hidden graders for `tiled_attention`; conftest.py defines `lifted`.

Scores in the thousands are tested in float64 with a tolerance of 1e-7. In float64, correct programs
that round at different points (scaling before or after the product, powers of 2) differ by about
1e-12, and a program that does not subtract the maximum still overflows or underflows. A small
number such as 1e-8 in the denominator costs only the tests that compare float64 exactly.
"""

import math

import pytest
import torch

from autograder.authors import expect, growth_exponent

LARGE = 1e-7


def output(results):
    return results[0]


def logsumexp(results):
    return results[1]


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return the output of full attention, and a logsumexp per query."""
    agree.tiled_attention(draw.normal(2, 11, 5), draw.normal(2, 11, 5), draw.normal(2, 11, 5), 4)


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, draw):
    """Support more or fewer keys than queries, and return a logsumexp per query."""
    for n, m in ((7, 11), (9, 5), (3, 12)):
        q, k, v = draw.normal(2, n, 5), draw.normal(2, m, 5), draw.normal(2, m, 5)
        agree.tiled_attention(q, k, v, 4)


def test_against_full_attention_in_float64(agree, draw):
    """Return softmax(q kᵀ / √d) v, independent of the division into blocks."""
    q, k, v = draw.normal(13, 5), draw.normal(13, 5), draw.normal(13, 5)
    result = agree.only(output).tiled_attention(q, k, v, 4)
    exact = (q.double() @ k.double().T / math.sqrt(5)).softmax(-1) @ v.double()
    expect(
        isinstance(result, (tuple, list)) and torch.allclose(result[0].double(), exact, atol=1e-5),
        "The output should be exactly that of full attention.",
    )


def test_leading_dimensions(agree, draw):
    """Support zero, one or several leading dimensions."""
    for lead in ((), (2,), (2, 6), (2, 1, 6)):
        q, k, v = (draw.normal(*lead, 9, 5) for _ in range(3))
        agree.only(output).tiled_attention(q, k, v, 4)


@pytest.mark.weight(2)
def test_block_sizes(agree, draw):
    """Return the same output for any block size: one key, a divisor of m, m, or more."""
    q, k, v = draw.normal(12, 5), draw.normal(12, 5), draw.normal(12, 5)
    for block_size in (1, 3, 4, 12, 50):
        agree.only(output).tiled_attention(q, k, v, block_size)


@pytest.mark.weight(2)
def test_last_block_is_shorter(agree, draw):
    """Treat the keys of an incomplete last block like all other keys."""
    q, k, v = draw.normal(11, 5), draw.normal(11, 5), draw.normal(11, 5)
    for block_size in (2, 3, 4, 9):
        agree.only(output).tiled_attention(q, k, v, block_size)


def test_default_arguments(agree, draw):
    """Default to blocks of 64 keys, without a causal mask."""
    agree.tiled_attention(draw.normal(3, 5), draw.normal(135, 5), draw.normal(135, 5))


@pytest.mark.weight(2)
def test_scores_that_rise(agree, lifted):
    """Rescale the running sum and the running output whenever a block has a larger maximum."""
    agree.only(output).tiled_attention(*lifted(torch.zeros(11), 1.5 * torch.arange(11)), 2)


def test_scores_that_fall(agree, lifted):
    """Keep the maximum of the first block if it is the largest."""
    agree.only(output).tiled_attention(*lifted(torch.zeros(11), -1.5 * torch.arange(11)), 2)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_large_scores(agree, draw, lifted):
    """Avoid overflow and underflow for scores in the thousands."""
    for columns in (3000.0 * draw.normal(11), torch.full((11,), 2000.0)):
        agree.within(LARGE).only(output).tiled_attention(*lifted(torch.zeros(11), columns), 4)


@pytest.mark.dtypes("float64")
def test_very_negative_scores(agree, lifted):
    """Use weights that sum to 1 even if all scores of a query are far below zero."""
    for level in (-2500.0, -40000.0):
        inputs = lifted(torch.full((7,), level), torch.zeros(11))
        agree.within(LARGE).only(output).tiled_attention(*inputs, 4)
        agree.within(LARGE).only(output).tiled_attention(*inputs, 4, True)


@pytest.mark.weight(4)
@pytest.mark.dtypes("float64")
def test_rows_of_different_magnitude(agree, lifted):
    """Compute the maximum per query, however different the queries are."""
    rows = torch.tensor([0.0, -3000.0, 2000.0, 900.0, -900.0])
    agree.within(LARGE).only(output).tiled_attention(*lifted(rows, torch.zeros(9)), 4)


@pytest.mark.weight(3)
def test_head_sizes(agree, draw):
    """Divide the scores by √d, for any d and d_v."""
    for d, d_v in ((16, 2), (3, 8), (1, 6)):
        q, k, v = draw.normal(2, 9, d), draw.normal(2, 9, d), draw.normal(2, 9, d_v)
        agree.only(output).tiled_attention(q, k, v, 4)


@pytest.mark.weight(2)
def test_causal(agree, draw):
    """Let query i attend to the keys j <= i if causal, for any block size."""
    q, k, v = (draw.normal(2, 3, 11, 5) for _ in range(3))
    for block_size in (1, 3, 4, 11, 16):
        agree.only(output).tiled_attention(q, k, v, block_size, causal=True)


@pytest.mark.weight(2)
def test_causal_with_more_keys_or_queries(agree, draw):
    """If causal, count queries and keys from 0, even if n and m differ."""
    for n, m in ((5, 11), (11, 5), (1, 7), (7, 1)):
        q, k, v = draw.normal(2, n, 4), draw.normal(2, m, 4), draw.normal(2, m, 4)
        agree.only(output).tiled_attention(q, k, v, 4, True)


@pytest.mark.dtypes("float64")
def test_hidden_keys_leave_no_trace(agree, lifted):
    """Ignore later keys if causal, however large their scores are."""
    q, k, v = lifted(torch.zeros(9), torch.tensor([0.0] * 5 + [3000.0, 0.0, 2000.0, 0.0]))
    agree.within(LARGE).only(output).tiled_attention(q, k, v, 3, True)


@pytest.mark.weight(2)
def test_logsumexp(agree, draw, lifted):
    """Return the logsumexp of each query's scaled scores as the second result."""
    q, k, v = draw.normal(2, 11, 5), draw.normal(2, 11, 5), draw.normal(2, 11, 5)
    agree.only(logsumexp).tiled_attention(q, k, v, 4)
    agree.only(logsumexp).tiled_attention(*lifted(torch.zeros(11), -1.5 * torch.arange(11)), 2)
    agree.only(logsumexp).tiled_attention(q, k, v, 3)


def test_logsumexp_of_visible_keys(agree, draw):
    """If causal, compute the logsumexp over the visible keys only."""
    q, k, v = draw.normal(2, 11, 5), draw.normal(2, 11, 5), draw.normal(2, 11, 5)
    agree.only(logsumexp).tiled_attention(q, k, v, 4, causal=True)


@pytest.mark.dtypes("float64")
def test_logsumexp_of_large_scores(agree, lifted):
    """Return a finite logsumexp for scores in the thousands."""
    rows = torch.tensor([0.0, -3000.0, 2000.0, 900.0, -900.0])
    agree.within(LARGE).only(logsumexp).tiled_attention(*lifted(rows, torch.zeros(9)), 4)


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients from output and logsumexp to queries, keys and values."""
    q, k, v = (draw.normal(2, 3, 11, 5) for _ in range(3))
    agree.gradients.tiled_attention(q, k, v, 4)
    agree.gradients.tiled_attention(q, k, v, 4, True)


@pytest.mark.dtypes("float64")
def test_gradients_of_rising_scores(agree, lifted):
    """Return correct gradients if the scores rise or fall from block to block."""
    for slope in (1.5, -1.5):
        inputs = lifted(torch.zeros(11), slope * torch.arange(11))
        agree.within(LARGE, LARGE).gradients.tiled_attention(*inputs, 2)


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return both results in the inputs' dtype and with its precision."""
    q, k, v = draw.normal(9, 4), draw.normal(9, 4), draw.normal(9, 4)
    agree.tiled_attention(q, k, v, 4)
    agree.tiled_attention(q, k, v, 4, True)


def test_single_positions(agree, draw):
    """Support a single query, key, feature and value feature."""
    for n, m, d, d_v in ((1, 6, 5, 3), (6, 1, 5, 3), (1, 1, 1, 1), (4, 6, 5, 1)):
        agree.tiled_attention(draw.normal(2, n, d), draw.normal(2, m, d), draw.normal(2, m, d_v), 4)


def test_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k = draw.normal(9, 2, 6, 5).transpose(0, 2), draw.normal(9, 2, 6, 5).transpose(0, 2)
    agree.tiled_attention(q, k, draw.normal(6, 2, 5, 9).mT, 4)
    keys, values = draw.normal(2, 1, 9, 5).expand(2, 6, 9, 5), draw.normal(9, 5).expand(2, 6, 9, 5)
    agree.tiled_attention(draw.normal(2, 6, 9, 5), keys, values, 4, True)


@pytest.mark.dtypes("float64")
def test_one_tensor_as_all_three(agree, draw):
    """Accept one tensor as queries, keys and values, and add up its three gradients."""
    x = draw.normal(2, 7, 5)
    agree.gradients.tiled_attention(x, x, x, 3)


@pytest.mark.weight(1, elsewhere=7)
def test_device(agree, draw, device):
    """Return results and gradients on the inputs' device, with or without `causal`."""
    q, k, v = (draw.normal(2, 3, 9, 5) for _ in range(3))
    agree.gradients.tiled_attention(q, k, v, 4)
    agree.gradients.tiled_attention(q, k, v, 4, True)


# Memory is counted as the elements of the largest tensor. All leading axes have size 1, and lengths
# are at least 8 times the block size, d and d_v. The largest tensor of a correct program has
# n x block_size x d elements at most, and usually n x block_size.


@pytest.fixture
def of_length(draw):
    def make(length, *lead):
        return *(draw.normal(*lead, length, 4) for _ in range(3)), 8

    return make


@pytest.mark.weight(14)
def test_no_table_of_scores(agree, count, of_length):
    """Allocate no tensor of n x m elements, with or without `causal`."""
    for causal in (False, True):
        agree.tiled_attention(*of_length(64, 1), causal)
        largest = count.tiled_attention(*of_length(96, 1), causal).largest
        expect(largest < 96 * 96, "A tensor has as many elements as there are pairs.")
    # In the whole process, a 2048 x 2048 float32 table takes 16 MiB; correct code takes 1 to 7 MiB.
    count.tiled_attention(*of_length(256, 1)[:3], 64)
    seen = count.outside.tiled_attention(*of_length(2048, 1)[:3], 64)
    grown, held = seen.grown or 0, seen.held or 0
    expect(grown < 12 << 20, "Memory grows like the square of the length.")
    expect(held < 12 << 20, "Your module keeps as much memory as a table of scores takes.")


@pytest.mark.weight(8)
def test_memory_is_linear(agree, count, of_length):
    """Let the largest tensor grow linearly with the length, not quadratically."""
    for causal in (False, True):
        agree.tiled_attention(*of_length(64), causal)
        cost = {n: count.tiled_attention(*of_length(n), causal) for n in (64, 128)}
        # The exponent is 1.0 for correct programs and 2.0 for a table of scores.
        expect(growth_exponent(cost) < 1.4, "The largest tensor grows faster than the length.")


@pytest.mark.weight(8)
def test_keys_come_in_blocks(agree, count, draw):
    """Visit the keys `block_size` at a time."""
    q, k, v = draw.normal(16, 4), draw.normal(128, 4), draw.normal(128, 4)
    agree.tiled_attention(q, k, v, 8, False)
    cost = {m: count.tiled_attention(q, k[:m], v[:m], 8, False) for m in (64, 128)}
    expect(
        growth_exponent(cost, "ops") > 0.4,
        "Twice as many keys take no more operations: a query meets all keys at once. Visit the "
        "keys `block_size` at a time.",
    )


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys."""
    agree.tiled_attention(draw.normal(3, 4), draw.normal(1100, 4), draw.normal(1100, 2), 32)


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = (
        (*(draw.normal(2, 9, 5) for _ in range(3)), block_size, causal)
        for block_size, causal in ((4, False), (3, True))
    )
    agree.gradients.in_a_row.tiled_attention(first, second)
