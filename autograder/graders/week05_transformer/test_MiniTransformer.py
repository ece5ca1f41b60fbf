"""Hidden graders for `MiniTransformer`.

Positions come from a float32 table, so float64 models are compared with a tolerance of 1e-6.
"""

import pytest
import torch

from autograder.authors import expect, same

SIZES = {"vocab_size": 11, "d_model": 12, "n_heads": 3, "n_layers": 2, "max_len": 9}


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Embed the ids, add the positions, apply the blocks, normalise, and apply the head."""
    pair = agree.MiniTransformer(11, 12, 3, 2, 9)
    pair(draw.integers(0, 11, 2, 7))
    pair(draw.integers(0, 11, 4, 5))


def test_sizes(agree, draw):
    """Use the requested vocabulary, width, number of heads and maximum sequence length."""
    for vocabulary, width, heads, longest in ((5, 8, 1, 6), (13, 6, 6, 4), (7, 10, 5, 8)):
        pair = agree.MiniTransformer(vocabulary, width, heads, 1, max_len=longest)
        pair(draw.integers(0, vocabulary, 3, 4))


def test_any_number_of_blocks(agree, draw):
    """Apply any number of blocks in order, even none, each with separate weights."""
    for layers in (1, 3, 0):
        pair = agree.MiniTransformer(**SIZES | {"n_layers": layers})
        pair(draw.integers(0, 11, 2, 5))


def test_same_token_at_every_place(agree, draw):
    """Distinguish positions, even if all tokens are equal."""
    pair = agree.MiniTransformer(**SIZES)
    logits = pair(draw.integers(0, 11, 3, 1).expand(3, 7))
    moved = float((logits[:, 1:] - logits[:, :-1]).abs().amax(dim=-1).min())
    expect(moved > 1e-4, "Equal tokens at different places should get different logits.")


def test_ignores_the_future(agree, draw):
    """Keep earlier logits unchanged if the last tokens change."""
    pair = agree.MiniTransformer(**SIZES)
    ids = draw.integers(0, 11, 2, 8)
    changed = torch.cat([ids[:, :5], 10 - ids[:, 5:]], dim=1)
    before, after = pair(ids), pair(changed)
    same(after[:, :5], before[:, :5], "Logits should not depend on tokens that come later.")


def test_every_length(agree, draw):
    """Accept a single token, a single sequence, and up to max_len tokens."""
    pair = agree.MiniTransformer(**SIZES)
    for batch, tokens in ((2, 9), (1, 4), (3, 1), (1, 1)):
        pair(draw.integers(0, 11, batch, tokens))


def test_refuses_what_is_too_long(agree, refuses, draw):
    """Raise a ValueError that states the number of tokens if it exceeds max_len."""
    pair = agree.MiniTransformer(**SIZES)
    pair.student(draw.integers(0, 11, 2, 8))
    refuses(ValueError, mentions="10").of(pair)(draw.integers(0, 11, 2, 10))
    refuses(ValueError, mentions="17").of(pair)(draw.integers(0, 11, 2, 17))


def test_what_is_saved(agree, draw):
    """Store only the parameters in the state dict, and max_len as an attribute."""
    pair = agree.MiniTransformer(**SIZES)
    pair.attribute("max_len")
    pair.state()


def test_gradients(agree, draw):
    """Propagate gradients to every parameter."""
    pair = agree.MiniTransformer(**SIZES)
    pair.gradients(draw.integers(0, 11, 2, 6))


def test_no_dropout_in_evaluation(agree, draw):
    """Disable dropout in evaluation mode."""
    pair = agree.MiniTransformer(**SIZES, dropout=0.5)
    pair.eval()
    pair(draw.integers(0, 11, 2, 7))


def test_training_with_everything_dropped(agree, draw):
    """Apply dropout only inside the blocks: at a rate of 1, embedding and positions remain."""
    pair, ids = agree.MiniTransformer(**SIZES, dropout=1.0), draw.integers(0, 11, 2, 7)
    pair.eval()(ids)
    pair.train().impurely(ids)


def test_ids_that_are_views(agree, draw):
    """Return the same result for slices and transposed views of token ids as for their copies."""
    pair = agree.MiniTransformer(**SIZES)
    pair(draw.integers(0, 11, 6, 2).T)
    pair(draw.integers(0, 11, 3, 14)[:, ::2])


@pytest.mark.dtypes("float16", "bfloat16")
def test_half_precision(agree, draw, dtype):
    """Return half-precision logits from a half-precision model."""
    pair = agree.MiniTransformer(**SIZES)
    pair(draw.integers(0, 11, 2, 6))


@pytest.mark.dtypes("float64")
def test_double_precision(agree, draw):
    """Return double-precision logits from a double-precision model."""
    pair = agree.within(atol=1e-6).MiniTransformer(**SIZES)
    pair(draw.integers(0, 11, 2, 6))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Move the positions to the device together with the model."""
    pair = agree.MiniTransformer(**SIZES)
    pair(draw.integers(0, 11, 2, 6))


def test_refuses_heads_that_do_not_fit(submission, refuses, draw):
    """Raise a ValueError that states d_model if n_heads does not divide it."""
    submission.MiniTransformer(**SIZES | {"n_heads": 4})(draw.integers(0, 11, 2, 6))
    refuses(ValueError, mentions="14").MiniTransformer(**SIZES | {"d_model": 14, "n_heads": 4})


def test_more_than_a_thousand_tokens(agree, draw):
    """Support a max_len and sequences of more than a thousand tokens."""
    pair = agree.within(atol=2e-2).MiniTransformer(5, 2, 1, 1, max_len=1100)
    pair(draw.integers(0, 5, 1, 1050))


def test_two_objects(agree, draw):
    """Keep two models independent, each with separate layers and max_len."""
    one, other = agree.MiniTransformer(**SIZES), agree.MiniTransformer(**SIZES | {"max_len": 4})
    one(draw.integers(0, 11, 2, 7))
    other(draw.integers(0, 11, 2, 4))
