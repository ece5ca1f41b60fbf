"""Hidden graders for `performer_attention`. Exponents stay where float32 needs no stabiliser.

There are as many keys as queries, and values are as long as keys, unless a test is about that.
What holds with and without `causal` is tried in two tests: a flaw of one way costs nothing of the
other.
"""

import pytest
import torch

from autograder.authors import expect, growth_exponent, same


def inputs(draw, *lead, n=5, m=None, d=4, d_v=None, r=6, std=1.0):
    """q, k, v and a projection."""
    m = n if m is None else m
    q, k = draw.normal(*lead, n, d, std=std), draw.normal(*lead, m, d, std=std)
    return q, k, draw.normal(*lead, m, d if d_v is None else d_v), draw.normal(r, d)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Weights are products of features, divided by their sum over all keys."""
    agree.performer_attention(*inputs(draw, 2))


@pytest.mark.weight(3)
def test_more_keys_or_queries(agree, draw):
    """There may be more keys than queries, or fewer."""
    agree.performer_attention(*inputs(draw, 2, n=5, m=7))
    agree.performer_attention(*inputs(draw, 2, n=7, m=3))


@pytest.mark.weight(2)
def test_causal(agree, draw):
    """Let query i attend to keys 0 to i (inclusive) if `causal`."""
    agree.performer_attention(*inputs(draw, 2, 3, n=6), causal=True)
    agree.performer_attention(*inputs(draw, 2, 3), True)


def test_causal_of_unequal_lengths(agree, draw):
    """Count queries and keys from 0, for any lengths."""
    agree.performer_attention(*inputs(draw, 2, n=4, m=7), causal=True)
    agree.performer_attention(*inputs(draw, 2, n=7, m=4), causal=True)


def test_ignores_the_future(agree, draw):
    """With `causal`, changing the last keys and values does not change earlier outputs."""
    q, k, v, projection = inputs(draw, 2, n=7)
    k_changed = torch.cat([k[:, :4], 2 * draw.normal(2, 3, 4)], dim=1)
    v_changed = torch.cat([v[:, :4], draw.normal(2, 3, 4)], dim=1)
    before = agree.performer_attention(q, k, v, projection, causal=True)
    after = agree.performer_attention(q, k_changed, v_changed, projection, causal=True)
    same(after[:, :4], before[:, :4], "Outputs should not depend on keys that come later.")


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Values may be shorter or longer than queries and keys."""
    for d_v in (3, 7):
        agree.performer_attention(*inputs(draw, d_v=d_v))


def test_causal_values_of_different_size(agree, draw):
    """Support values shorter or longer than queries and keys, with `causal` too."""
    for d_v in (3, 7):
        agree.performer_attention(*inputs(draw, n=6, d_v=d_v), causal=True)


def leads(draw, causal):
    return ((*inputs(draw, *lead), causal) for lead in ((), (1,), (2, 3)))


def test_any_leading_dimensions(agree, draw):
    """Apply one projection without a batch, with a batch, and with heads."""
    for arguments in leads(draw, False):
        agree.performer_attention(*arguments)


def test_causal_with_any_leading_dimensions(agree, draw):
    """With `causal`, support inputs without a batch, with a batch, and with heads."""
    for arguments in leads(draw, True):
        agree.performer_attention(*arguments)


def keys_of_different_lengths(draw):
    q, k, v, projection = inputs(draw, 2)
    return q, k * torch.linspace(0.2, 2.5, 5).to(k.dtype).unsqueeze(-1), v, projection


def test_keys_of_different_lengths(agree, draw):
    """Keep the ratio between the weights of a short and a long key."""
    agree.performer_attention(*keys_of_different_lengths(draw))


def test_causal_with_keys_of_different_lengths(agree, draw):
    """Keep the ratio between the weights of a short and a long key with `causal`."""
    agree.performer_attention(*keys_of_different_lengths(draw), causal=True)


def equal_values_stay(agree, draw, causal):
    q, k, _, projection = inputs(draw, 2)
    v = draw.normal(2, 1, 4).expand(2, 5, 4)
    output = agree.performer_attention(q, k, v, projection, causal=causal)
    same(output, v, "With equal values, the output should be that value.")


def test_equal_values(agree, draw):
    """Return equal values unchanged: the weights sum to one."""
    equal_values_stay(agree, draw, False)


def test_causal_with_equal_values(agree, draw):
    """Return equal values unchanged with `causal`: the weights sum to one."""
    equal_values_stay(agree, draw, True)


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Queries, keys, values and the projection get their gradients."""
    agree.gradients.performer_attention(*inputs(draw, 2, 3))


def test_causal_gradients(agree, draw):
    """Propagate gradients to queries, keys, values and projection with `causal`."""
    agree.gradients.performer_attention(*inputs(draw, 2, 3), causal=True)


def grows_linearly(agree, count, draw, causal):
    counts = {}
    for tokens in (128, 256, 512):  # at least 4·r·(d_v + 1), where right code grows linearly
        q, k, v, projection = inputs(draw, 1, n=tokens, r=4)
        if tokens == 128:
            agree.performer_attention(q, k, v, projection, causal=causal)
        counts[tokens] = count.performer_attention(q, k, v, projection, causal=causal)
    expect(counts[512].largest < 512 * 512 // 2, "A tensor of n·m elements is made.")
    growth = max(growth_exponent(counts), growth_exponent(counts, of="flops"))
    expect(growth < 1.3, "Work or memory grow faster than the number of tokens.")


@pytest.mark.weight(5)
def test_causal_growth(agree, count, draw):
    """Use twice the work and memory for twice as many tokens with `causal`."""
    grows_linearly(agree, count, draw, True)


@pytest.mark.weight(7)
def test_growth(agree, count, draw):
    """Use twice the work and memory for twice as many tokens, and create no n x m tensor."""
    grows_linearly(agree, count, draw, False)
    # The kernel's word for it: a table of 2048 x 2048 takes 16 MiB or more.
    q, k, v, projection = inputs(draw, 1, n=2048, r=4)
    seen = count.outside.performer_attention(q, k, v, projection)
    grown, held = seen.grown or 0, seen.held or 0
    expect(grown < 10 << 20, "Memory grows like the square of the length.")
    expect(held < 12 << 20, "Your module keeps as much memory as a table of n x m takes.")


def test_every_dtype(agree, draw, dtype):
    """Return the dtype of the inputs."""
    q, k, v, projection = inputs(draw, std=0.5)
    agree.performer_attention(q, k, v, projection / 2)


def test_causal_in_every_dtype(agree, draw, dtype):
    """Return the dtype of the inputs with `causal`."""
    q, k, v, projection = inputs(draw, std=0.5)
    agree.performer_attention(q, k, v, projection / 2, causal=True)


def singleton_axes(draw, causal):
    yield *inputs(draw, 2, n=1, m=7), causal
    yield *inputs(draw, 1, m=1, d_v=1), causal
    yield *inputs(draw, 2, d=1, r=1), causal


def test_singleton_axes(agree, draw):
    """Keep all axes of a single query, key and feature."""
    for arguments in singleton_axes(draw, False):
        agree.performer_attention(*arguments)


def test_causal_singleton_axes(agree, draw):
    """Keep all axes of a single query, key and feature with `causal`."""
    for arguments in singleton_axes(draw, True):
        agree.performer_attention(*arguments)


def views(draw):
    q, v = draw.normal(5, 2, 4).transpose(0, 1), draw.normal(2, 4, 5).transpose(1, 2)
    return q, draw.normal(1, 5, 4).expand(2, 5, 4), v, draw.normal(6, 4)


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.performer_attention(*views(draw))


def test_causal_with_inputs_that_are_views(agree, draw):
    """Return the same result for transposed and expanded inputs as for copies with `causal`."""
    agree.performer_attention(*views(draw), causal=True)


@pytest.mark.weight(1, elsewhere=9)
def test_device(agree, draw, device):
    """Create all tensors on the device of the inputs."""
    for causal in (False, True):
        agree.performer_attention(*inputs(draw, 2, 3), causal=causal)


AXES_OF_ONE = ({"n": 1, "m": 7}, {"m": 1}, {"r": 1}, {"d_v": 1})


def test_gradients_with_singleton_axes(agree, draw):
    """Compute the gradient of a single query, key, feature or value."""
    for sizes in AXES_OF_ONE:
        agree.gradients.performer_attention(*inputs(draw, 1, **sizes))


def test_causal_gradients_with_singleton_axes(agree, draw):
    """Compute the gradient of a single query, key, feature or value with `causal`."""
    for sizes in AXES_OF_ONE:
        agree.gradients.performer_attention(*inputs(draw, 1, **sizes), causal=True)


def test_many_keys(agree, draw):
    """Include every one of more than a thousand keys that are visible at once."""
    agree.performer_attention(*inputs(draw, n=2, m=1100, r=3))


def test_many_causal_keys(agree, draw):
    """Include every one of more than a thousand keys that become visible one by one."""
    agree.performer_attention(*inputs(draw, n=1100, d=2, d_v=1, r=2), causal=True)


def test_two_calls_before_their_gradients(agree, draw):
    """Keep the data for the backward pass per call: later calls must not change gradients."""
    first, second = (
        [*(draw.normal(2, 5, 4) for _ in range(3)), draw.normal(6, 4), causal]
        for causal in (True, False)
    )
    agree.gradients.in_a_row.performer_attention(first, second)
