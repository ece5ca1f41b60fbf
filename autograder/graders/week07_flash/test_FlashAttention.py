"""Hidden graders for `FlashAttention`; conftest.py defines `lifted`."""

from functools import partial

import pytest
import torch

from autograder.authors import expect, growth_exponent

APPLY = "FlashAttention.apply"
LARGE = 1e-7  # see test_tiled_attention.py


@pytest.fixture
def qkv(draw):
    """Draw queries (*lead, n, 5), keys (*lead, m, 5) and values (*lead, m, 5)."""

    def make(n=11, m=11, lead=(2,)):
        return draw.normal(*lead, n, 5), draw.normal(*lead, m, 5), draw.normal(*lead, m, 5)

    return make


@pytest.mark.weight(2)
def test_values(agree, qkv):
    """Return the output of full attention, without the logsumexp."""
    for block_size in (1, 4, 11, 20):
        agree.call(APPLY, *qkv(), block_size, False)


@pytest.mark.weight(2)
def test_more_keys_or_queries(agree, qkv):
    """Support more or fewer keys than queries, also in the gradients."""
    for n, m in ((7, 11), (9, 5)):
        agree.gradients.call(APPLY, *qkv(n, m), 4, False)


def test_causal_values(agree, qkv):
    """Let query i attend to the keys j <= i if causal."""
    for block_size in (3, 4, 16):
        agree.call(APPLY, *qkv(lead=(2, 3)), block_size, True)


@pytest.mark.weight(3)
def test_gradients(agree, qkv):
    """Compute the gradients of full attention for queries, keys and values."""
    for block_size in (4, 11, 20):
        agree.gradients.call(APPLY, *qkv(lead=()), block_size, False)


@pytest.mark.weight(2)
def test_gradients_of_short_last_block(agree, qkv):
    """Compute the gradients of the keys in an incomplete last block too."""
    for block_size in (2, 3, 9):
        agree.gradients.call(APPLY, *qkv(lead=()), block_size, False)


@pytest.mark.weight(2)
def test_gradients_causal(agree, qkv):
    """Propagate no gradient from queries to masked keys if causal."""
    for block_size in (1, 4, 20):
        agree.gradients.call(APPLY, *qkv(lead=(2, 3)), block_size, True)


@pytest.mark.weight(2)
def test_gradients_causal_with_more_keys_or_queries(agree, qkv):
    """If causal, count queries and keys from 0; the gradient of keys that no query sees is 0."""
    for n, m in ((5, 11), (11, 5), (1, 7), (7, 1)):
        agree.gradients.call(APPLY, *qkv(n, m), 4, True)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_gradients_of_rising_scores(agree, lifted):
    """Return correct gradients if the scores rise or fall from block to block."""
    for slope in (1.5, -1.5):
        inputs = lifted(torch.zeros(11), slope * torch.arange(11))
        agree.within(LARGE, LARGE).gradients.call(APPLY, *inputs, 2, False)


@pytest.mark.weight(2)
@pytest.mark.dtypes("float64")
def test_gradients_of_large_scores(agree, lifted):
    """Return finite gradients for scores in the thousands, with a separate maximum per query."""
    rows = torch.tensor([0.0, -3000.0, 2000.0, 900.0, -900.0])
    for causal in (False, True):
        inputs = lifted(rows, torch.zeros(9))
        agree.within(LARGE, LARGE).gradients.call(APPLY, *inputs, 4, causal)


@pytest.mark.weight(3)
def test_head_sizes(agree, draw):
    """Include the scale in the gradients of queries and keys, for any d and d_v."""
    for d, d_v in ((16, 2), (2, 7)):
        q, k, v = draw.normal(2, 9, d), draw.normal(2, 9, d), draw.normal(2, 9, d_v)
        agree.gradients.call(APPLY, q, k, v, 4, False)


def test_leading_dimensions(agree, qkv):
    """Support zero, one or several leading dimensions."""
    for lead in ((), (2,), (2, 6)):
        agree.gradients.call(APPLY, *qkv(9, 9, lead), 4, False)
    agree.gradients.call(APPLY, *qkv(9, 9, (2, 6)), 4, True)


def test_views(agree, draw, qkv):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    q, k = draw.normal(9, 2, 6, 5).transpose(0, 2), draw.normal(9, 2, 6, 5).transpose(0, 2)
    agree.gradients.call(APPLY, q, k, draw.normal(6, 2, 5, 9).mT, 4, False)
    keys, values = draw.normal(2, 1, 9, 5).expand(2, 6, 9, 5), draw.normal(9, 5).expand(2, 6, 9, 5)
    agree.gradients.call(APPLY, draw.normal(2, 6, 9, 5), keys, values, 4, True)


@pytest.mark.dtypes("float64")
def test_one_tensor_as_all_three(agree, draw):
    """Accept one tensor as queries, keys and values, and add up its three gradients."""
    x = draw.normal(2, 7, 5)
    agree.gradients.call(APPLY, x, x, x, 3, False)


@pytest.mark.weight(2)
def test_float_types(agree, draw, dtype):
    """Return output and gradients in the inputs' dtype and with its precision."""
    q, k, v = (draw.normal(2, 9, 4) for _ in range(3))
    agree.gradients.call(APPLY, q, k, v, 4, False)
    agree.gradients.call(APPLY, q, k, v, 4, True)


@pytest.mark.weight(1, elsewhere=7)
def test_device(agree, qkv, device):
    """Return output and gradients on the inputs' device."""
    agree.gradients.call(APPLY, *qkv(9, 9, (2, 3)), 4, False)
    agree.gradients.call(APPLY, *qkv(9, 9, (2, 3)), 4, True)


@pytest.mark.weight(2)
def test_two_calls_before_their_gradients(agree, draw, qkv):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    apply = partial(agree.gradients.in_a_row.call, APPLY)
    apply((*qkv(9, 9), 4, False), (*qkv(9, 9), 3, True))
    apply((*qkv(7, 11), 4, False), (*qkv(5, 8), 3, True))


# Memory is counted in elements of tensors. All leading axes have size 1, and lengths are at least 8
# times the block size, d and d_v. The exponent is 1.0 for correct programs and 2.0 for a table of
# scores; `kept` also finds a table that is split into several tensors.


@pytest.fixture
def of_length(draw):
    def make(length, *lead):
        return *(draw.normal(*lead, length, 4) for _ in range(3)), 8

    return make


@pytest.mark.weight(6)
def test_memory_of_the_forward_is_linear(agree, count, of_length):
    """Allocate no table of scores in the forward pass: the largest tensor grows linearly."""
    for causal in (False, True):
        agree.call(APPLY, *of_length(64, 1), causal)
        cost = {n: count.call(APPLY, *of_length(n, 1), causal) for n in (64, 128)}
        expect(growth_exponent(cost) < 1.4, "The largest tensor grows faster than the length.")
    # In the whole process, a 2048 x 2048 float32 table takes 16 MiB; correct code takes 1 to 7 MiB.
    count.call(APPLY, *of_length(256, 1)[:3], 64, False)
    grown = count.outside.call(APPLY, *of_length(2048, 1)[:3], 64, False).grown
    expect(grown is None or grown < 12 << 20, "Memory grows like the square of the length.")


@pytest.mark.weight(12)
def test_memory_of_the_backward_is_linear(agree, count, of_length):
    """Allocate no table of scores in the backward pass."""
    for causal in (False, True):
        agree.gradients.call(APPLY, *of_length(64, 1, 1), causal)
        cost = {n: count.gradients.call(APPLY, *of_length(n, 1, 1), causal) for n in (64, 128)}
        expect(
            growth_exponent(cost) < 1.4,
            "The largest tensor of forward and backward grows faster than the length.",
        )


@pytest.mark.weight(14)
def test_no_weights_are_kept(agree, count, of_length):
    """Save only O(n) elements for the backward pass, in total over all blocks."""
    agree.gradients.call(APPLY, *of_length(64), False)
    cost = {n: count.gradients.call(APPLY, *of_length(n), False) for n in (64, 128)}
    expect(
        growth_exponent(cost, "kept") < 1.4,
        "The tensors saved for the backward pass grow faster than the length.",
    )


@pytest.mark.weight(8)
def test_keys_come_in_blocks(agree, count, draw):
    """Visit the keys `block_size` at a time in the forward pass."""
    q, k, v = draw.normal(16, 4), draw.normal(128, 4), draw.normal(128, 4)
    agree.gradients.call(APPLY, q, k, v, 8, False)
    cost = {m: count.call(APPLY, q, k[:m], v[:m], 8, False) for m in (64, 128)}
    expect(
        growth_exponent(cost, "ops") > 0.4,
        "Twice as many keys take no more operations: a query meets all keys at once. Visit the "
        "keys `block_size` at a time.",
    )


def test_gradients_of_single_positions(agree, qkv, draw):
    """Compute gradients for a single query, key or value feature."""
    agree.gradients.call(APPLY, *qkv(1, 5), 4, False)
    agree.gradients.call(APPLY, *qkv(5, 1), 4, False)
    q, k, _ = qkv(4, 6)
    agree.gradients.call(APPLY, q, k, draw.normal(2, 6, 1), 4, False)


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys, also in the gradients."""
    q, k, v = draw.normal(3, 4), draw.normal(1100, 4), draw.normal(1100, 2)
    agree.gradients.call(APPLY, q, k, v, 32, False)
