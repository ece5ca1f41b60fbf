"""Hidden graders for `CausalSelfAttention`."""

import pytest
import torch

from autograder.authors import expect, rows_sum_to_one, same, zero_where


def heads_of(pair, x, y, heads):
    """Return the head outputs that `proj` mapped to the student's y, and the values of each head.

    Both have the shape (B, H, T, d). x should be float64, because a linear system is solved.
    """
    right_kind = isinstance(y, torch.Tensor) and y.shape == x.shape and y.dtype == x.dtype
    expect(right_kind, "In training, too, the result should be one tensor like the input.")
    state = pair.reference.state_dict()
    batch, tokens, width = x.shape
    merged = torch.linalg.solve(state["proj.weight"], y.reshape(-1, width).T).T
    values = x @ state["qkv.weight"][2 * width :].T
    shape = (batch, tokens, heads, width // heads)
    return merged.reshape(shape).transpose(1, 2), values.reshape(shape).transpose(1, 2)


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Split the fused projection into queries, keys and values; mask later tokens."""
    pair = agree.CausalSelfAttention(12, 3)
    pair(draw.normal(2, 5, 12))
    pair(draw.normal(4, 7, 12))


@pytest.mark.weight(2)
def test_returned_weights(agree, draw):
    """Return each head's weights on request: causal, each row summing to one."""
    pair = agree.CausalSelfAttention(12, 3)
    _, weights = pair(draw.normal(2, 5, 12), return_weights=True)
    rows_sum_to_one(weights)
    zero_where(weights, torch.ones(5, 5, dtype=torch.bool).triu(1).expand(2, 3, 5, 5))


def test_ignores_the_future(agree, draw):
    """Keep earlier outputs unchanged if the last tokens change."""
    pair = agree.CausalSelfAttention(12, 3)
    x = draw.normal(2, 7, 12)
    changed = torch.cat([x[:, :4], draw.normal(2, 3, 12)], dim=1)
    before, after = pair(x), pair(changed)
    same(after[:, :4], before[:, :4], "Outputs should not depend on tokens that come later.")


def test_sizes(agree, draw):
    """Scale, split and merge by the sizes passed to the constructor."""
    for width, heads in ((12, 1), (10, 5), (6, 6), (9, 3)):
        pair = agree.CausalSelfAttention(d_model=width, n_heads=heads)
        pair(draw.normal(2, 4, width), return_weights=True)


def test_changing_lengths(agree, draw):
    """Support short and long sequences in any order with one module."""
    pair = agree.CausalSelfAttention(12, 3)
    for tokens in (4, 1, 9, 2):
        pair(draw.normal(2, tokens, 12))


def test_singleton_axes(agree, draw):
    """Keep the axes of a single sequence and a single token."""
    pair = agree.CausalSelfAttention(8, 2)
    pair(draw.normal(1, 5, 8), return_weights=True)
    pair(draw.normal(1, 1, 8), return_weights=True)


def test_gradients(agree, draw):
    """Propagate gradients from output and weights to the input and both layers."""
    pair = agree.CausalSelfAttention(12, 3)
    pair.gradients(draw.normal(2, 5, 12))
    pair.gradients(draw.normal(2, 5, 12), return_weights=True)


def test_no_dropout_in_evaluation(agree, draw):
    """Disable dropout in evaluation mode."""
    pair = agree.CausalSelfAttention(12, 3, 0.5)
    pair.eval()
    pair(draw.normal(2, 5, 12))
    pair(draw.normal(2, 5, 12), return_weights=True)


@pytest.mark.dtypes("float64")
def test_training_drops_whole_weights(agree, draw):
    """Drop whole attention weights in training, and scale the remaining ones by 1 / (1 - p)."""
    pair = agree.CausalSelfAttention(12, 3, dropout=0.3)
    x = draw.normal(150, 1, 12)  # with one token, each head has a single weight, 1
    pair.train()
    mixed, values = heads_of(pair, x, pair.student(x), heads=3)
    dropped = (mixed.abs() < 1e-6).all(dim=-1)
    kept = ((mixed - values / 0.7).abs() < 1e-6).all(dim=-1)
    expect(
        bool((dropped | kept).all()),
        "With a single token, what dropout leaves of a head is either nothing at all or all of "
        "its value, enlarged by 1 / (1 - p).",
    )
    # the share of 450 draws at rate 0.3 has a standard deviation of 0.022; allow seven of these
    share = dropped.double().mean().item()
    expect(0.15 < share < 0.45, "The share of weights dropped should be the dropout rate.")


@pytest.mark.dtypes("float64")
def test_training_drops_each_weight_alone(agree, draw):
    """Drop weights independently for each head, query and sequence in training."""
    pair = agree.CausalSelfAttention(12, 3, dropout=0.5)
    x = draw.normal(60, 3, 12, std=0.2)
    pair.eval()
    _, weights = pair(x, return_weights=True)
    pair.train()
    mixed, values = heads_of(pair, x, pair.student(x), heads=3)
    used = mixed @ torch.linalg.pinv(values)  # the weights that mixed the values, (B, H, T, T)
    as_it_should = (used.abs() < 1e-6) | ((used - 2 * weights).abs() < 1e-6)
    expect(
        bool(as_it_should.all()),
        "In training each weight should be either dropped or enlarged by 1 / (1 - p).",
    )
    kept = used[..., 0] > 0.02  # the first key's weights: far from zero unless dropped
    for axis, name in ((0, "sequences"), (1, "heads"), (2, "queries")):
        first = kept.narrow(axis, 0, 1)
        expect(bool((kept != first).any()), f"All {name} have the same weights dropped.")


def test_returned_weights_are_free_of_dropout(agree, draw):
    """Return the weights of the softmax, before dropout, also in training."""
    pair = agree.CausalSelfAttention(12, 3, dropout=0.5)
    x = draw.normal(4, 6, 12)
    pair.eval()
    _, weights = pair(x, return_weights=True)
    pair.train()
    both = pair.student(x, return_weights=True)
    expect(isinstance(both, tuple) and len(both) == 2, "In training, too, two results should come.")
    same(both[1], weights, "In training, the weights returned should not have been dropped.")


@pytest.mark.dtypes("float16", "bfloat16", "float64")
def test_half_precision(agree, draw, dtype):
    """Return output and weights in the dtype of the input: float16, bfloat16 or float64."""
    pair = agree.CausalSelfAttention(12, 3)
    pair(draw.normal(2, 5, 12), return_weights=True)


def test_inputs_that_are_views(agree, draw):
    """Return the same result for transposed and expanded inputs as for their copies."""
    pair = agree.CausalSelfAttention(12, 3)
    pair(draw.normal(5, 2, 12).transpose(0, 1))
    pair(draw.normal(1, 5, 12).expand(4, 5, 12))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, device):
    """Create the mask on the device of the input."""
    pair = agree.CausalSelfAttention(12, 3)
    pair(draw.normal(2, 5, 12), return_weights=True)


def test_refuses_sizes_that_do_not_fit(submission, refuses, draw):
    """Let __init__ raise a ValueError that states d_model if n_heads does not divide it."""
    submission.CausalSelfAttention(12, 4)(draw.normal(2, 5, 12))
    refuses(ValueError, mentions="4").CausalSelfAttention(14, 4)
    refuses(ValueError).CausalSelfAttention(3, 7)


def test_long_sequences(agree, draw):
    """Attend to the whole past in a sequence of more than a thousand tokens."""
    agree.CausalSelfAttention(2, 1)(draw.normal(1, 1050, 2))


def test_two_objects(agree, draw):
    """Keep two modules independent: each has its own number of heads."""
    one, other = agree.CausalSelfAttention(12, 3), agree.CausalSelfAttention(12, 2)
    one(draw.normal(2, 5, 12))
    other(draw.normal(2, 5, 12))
