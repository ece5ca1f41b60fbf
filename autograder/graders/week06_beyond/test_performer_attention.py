"""Hidden graders for `performer_attention`. Inputs are so small that `exp` does not overflow.

Most requirements have a test with `causal` and a test without, so that a mistake in one mode costs
no points in the other.
"""

import pytest
import torch

from autograder.authors import expect, growth_exponent, same


def inputs(draw, *lead, n=5, m=None, d=4, d_v=None, r=6, std=1.0):
    """Draw q (*lead, n, d), k (*lead, m, d), v (*lead, m, d_v) and a projection (r, d).

    By default, m = n and d_v = d.
    """
    m = n if m is None else m
    q, k = draw.normal(*lead, n, d, std=std), draw.normal(*lead, m, d, std=std)
    return q, k, draw.normal(*lead, m, d if d_v is None else d_v), draw.normal(r, d)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Weight values by φ(q) · φ(k), normalised over all keys, with φ = `favor_features`."""
    agree.performer_attention(*inputs(draw, 2))


@pytest.mark.weight(3)
def test_more_keys_or_queries(agree, draw):
    """Support more or fewer keys than queries."""
    agree.performer_attention(*inputs(draw, 2, n=5, m=7))
    agree.performer_attention(*inputs(draw, 2, n=7, m=3))


@pytest.mark.weight(2)
def test_causal(agree, draw):
    """Let query i attend to keys 0 to i (inclusive) if `causal`."""
    agree.performer_attention(*inputs(draw, 2, 3, n=6), causal=True)
    agree.performer_attention(*inputs(draw, 2, 3), True)


def test_causal_of_unequal_lengths(agree, draw):
    """Count queries and keys from 0 if `causal`, even if n and m differ."""
    agree.performer_attention(*inputs(draw, 2, n=4, m=7), causal=True)
    agree.performer_attention(*inputs(draw, 2, n=7, m=4), causal=True)


def test_ignores_the_future(agree, draw):
    """Compute each output only from the keys and values up to its position if `causal`."""
    q, k, v, projection = inputs(draw, 2, n=7)
    k_changed = torch.cat([k[:, :4], 2 * draw.normal(2, 3, 4)], dim=1)
    v_changed = torch.cat([v[:, :4], draw.normal(2, 3, 4)], dim=1)
    before = agree.performer_attention(q, k, v, projection, causal=True)
    after = agree.performer_attention(q, k_changed, v_changed, projection, causal=True)
    same(after[:, :4], before[:, :4], "Outputs should not depend on keys that come later.")


@pytest.mark.weight(2)
def test_values_of_different_size(agree, draw):
    """Support values with fewer or more features than queries and keys."""
    for d_v in (3, 7):
        agree.performer_attention(*inputs(draw, d_v=d_v))


def test_causal_values_of_different_size(agree, draw):
    """Support values with fewer or more features than queries and keys, with `causal` too."""
    for d_v in (3, 7):
        agree.performer_attention(*inputs(draw, n=6, d_v=d_v), causal=True)


def leads(draw, causal):
    return ((*inputs(draw, *lead), causal) for lead in ((), (1,), (2, 3)))


def test_any_leading_dimensions(agree, draw):
    """Apply the same projection to inputs without a batch, with a batch, and with heads."""
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
    """Preserve the ratios between the weights of keys with small and large norms."""
    agree.performer_attention(*keys_of_different_lengths(draw))


def test_causal_with_keys_of_different_lengths(agree, draw):
    """With `causal`, preserve the ratios between the weights of keys with small and large norms."""
    agree.performer_attention(*keys_of_different_lengths(draw), causal=True)


def equal_values_stay(agree, draw, causal):
    q, k, _, projection = inputs(draw, 2)
    v = draw.normal(2, 1, 4).expand(2, 5, 4)
    output = agree.performer_attention(q, k, v, projection, causal=causal)
    same(output, v, "With equal values, the output should be that value.")


def test_equal_values(agree, draw):
    """Return the common value if all values are equal: the weights sum to 1."""
    equal_values_stay(agree, draw, False)


def test_causal_with_equal_values(agree, draw):
    """Return the common value if all values are equal, with `causal` too: the weights sum to 1."""
    equal_values_stay(agree, draw, True)


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to queries, keys, values and projection."""
    agree.gradients.performer_attention(*inputs(draw, 2, 3))


def test_causal_gradients(agree, draw):
    """Propagate gradients to queries, keys, values and projection with `causal`."""
    agree.gradients.performer_attention(*inputs(draw, 2, 3), causal=True)


def grows_linearly(agree, count, draw, causal):
    counts = {}
    for tokens in (128, 256, 512):  # correct code has linear cost from 4·r·(d_v + 1) on
        q, k, v, projection = inputs(draw, 1, n=tokens, r=4)
        if tokens == 128:
            agree.performer_attention(q, k, v, projection, causal=causal)
        counts[tokens] = count.performer_attention(q, k, v, projection, causal=causal)
    expect(counts[512].largest < 512 * 512 // 2, "A tensor of n·m elements is made.")
    growth = max(growth_exponent(counts), growth_exponent(counts, of="flops"))
    expect(growth < 1.3, "Work or memory grow faster than the number of tokens.")


@pytest.mark.weight(5)
def test_causal_growth(agree, count, draw):
    """If `causal`, let work and memory grow linearly with the number of tokens: no n x m tensor."""
    grows_linearly(agree, count, draw, True)


@pytest.mark.weight(7)
def test_growth(agree, count, draw):
    """Let work and memory grow linearly with the number of tokens, and create no n x m tensor."""
    grows_linearly(agree, count, draw, False)
    # Measure the memory of the whole process: a 2048 x 2048 table in float32 takes 16 MiB.
    q, k, v, projection = inputs(draw, 1, n=2048, r=4)
    seen = count.outside.performer_attention(q, k, v, projection)
    grown, held = seen.grown or 0, seen.held or 0
    expect(grown < 10 << 20, "Memory grows like the square of the length.")
    expect(held < 12 << 20, "Your module keeps as much memory as a table of n x m takes.")


def test_every_dtype(agree, draw, dtype):
    """Return a result in the dtype of the inputs."""
    q, k, v, projection = inputs(draw, std=0.5)
    agree.performer_attention(q, k, v, projection / 2)


def test_causal_in_every_dtype(agree, draw, dtype):
    """Return a result in the dtype of the inputs with `causal`."""
    q, k, v, projection = inputs(draw, std=0.5)
    agree.performer_attention(q, k, v, projection / 2, causal=True)


def singleton_axes(draw, causal):
    yield *inputs(draw, 2, n=1, m=7), causal
    yield *inputs(draw, 1, m=1, d_v=1), causal
    yield *inputs(draw, 2, d=1, r=1), causal


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single query, key or feature."""
    for arguments in singleton_axes(draw, False):
        agree.performer_attention(*arguments)


def test_causal_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single query, key or feature, with `causal`."""
    for arguments in singleton_axes(draw, True):
        agree.performer_attention(*arguments)


def views(draw):
    q, v = draw.normal(5, 2, 4).transpose(0, 1), draw.normal(2, 4, 5).transpose(1, 2)
    return q, draw.normal(1, 5, 4).expand(2, 5, 4), v, draw.normal(6, 4)


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.performer_attention(*views(draw))


def test_causal_with_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs with `causal`, and leave them unchanged."""
    agree.performer_attention(*views(draw), causal=True)


@pytest.mark.weight(1, elsewhere=9)
def test_device(agree, draw, device):
    """Create all tensors on the device of the inputs."""
    for causal in (False, True):
        agree.performer_attention(*inputs(draw, 2, 3), causal=causal)


AXES_OF_ONE = ({"n": 1, "m": 7}, {"m": 1}, {"r": 1}, {"d_v": 1})


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for a single query, key, random feature or value feature."""
    for sizes in AXES_OF_ONE:
        agree.gradients.performer_attention(*inputs(draw, 1, **sizes))


def test_causal_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for a single query, key, random feature or value feature, with `causal`."""
    for sizes in AXES_OF_ONE:
        agree.gradients.performer_attention(*inputs(draw, 1, **sizes), causal=True)


def test_many_keys(agree, draw):
    """Attend to every key, even with more than a thousand keys."""
    agree.performer_attention(*inputs(draw, n=2, m=1100, r=3))


def test_many_causal_keys(agree, draw):
    """Attend to every visible key if `causal`, even with more than a thousand keys."""
    agree.performer_attention(*inputs(draw, n=1100, d=2, d_v=1, r=2), causal=True)


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = (
        [*(draw.normal(2, 5, 4) for _ in range(3)), draw.normal(6, 4), causal]
        for causal in (True, False)
    )
    agree.gradients.in_a_row.performer_attention(first, second)
