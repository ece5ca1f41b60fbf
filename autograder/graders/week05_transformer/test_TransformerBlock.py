"""Hidden graders for `TransformerBlock`."""

from itertools import product

import pytest
import torch
from torch.nn import functional as F

from autograder.authors import expect, same


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Add the attention of the normalised input, then the ff output of the normalised sum."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair(draw.normal(2, 5, 12))
    pair(draw.normal(4, 7, 12))


def test_sizes(agree, draw):
    """Use the requested width, number of heads and width of the feed-forward layer."""
    for width, heads, inside in ((8, 1, 5), (6, 6, 30), (10, 5, 7)):
        pair = agree.TransformerBlock(d_model=width, n_heads=heads, d_ff=inside)
        pair(draw.normal(3, 4, width))


def test_large_inputs_pass_through(agree, draw):
    """Add to the original input, not to the normalised input."""
    pair = agree.TransformerBlock(12, 3, 20)
    x = draw.normal(2, 5, 12, std=300.0)
    passed = F.cosine_similarity(pair(x).flatten(), x.flatten(), dim=0)
    expect(passed > 0.9, "A large input should hardly change: the block only adds to it.")


def test_small_inputs_are_seen_in_full(agree, draw):
    """Normalise the inputs of attention and ff, however small the inputs are."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair(draw.normal(2, 5, 12, std=0.1))


def test_ignores_the_future(agree, draw):
    """Keep earlier outputs unchanged if the last tokens change."""
    pair = agree.TransformerBlock(12, 3, 20)
    x = draw.normal(2, 7, 12)
    changed = torch.cat([x[:, :4], draw.normal(2, 3, 12)], dim=1)
    before, after = pair(x), pair(changed)
    same(after[:, :4], before[:, :4], "Outputs should not depend on tokens that come later.")


def test_singleton_axes(agree, draw):
    """Keep the axes of a single sequence and a single token."""
    pair = agree.TransformerBlock(8, 2, 12)
    pair(draw.normal(1, 5, 8))
    pair(draw.normal(3, 1, 8))
    pair(draw.normal(1, 1, 8))


def test_input_stays_as_it_was(agree, draw):
    """Leave the input unchanged, and accept views."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair(draw.normal(5, 2, 12).transpose(0, 1))
    pair(draw.normal(1, 5, 12).expand(4, 5, 12))


def test_gradients(agree, draw):
    """Propagate gradients to the input and every parameter."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair.gradients(draw.normal(2, 5, 12))


def test_no_dropout_in_evaluation(agree, draw):
    """Disable dropout in evaluation mode."""
    pair = agree.TransformerBlock(12, 3, 20, 0.5)
    pair.eval()
    pair(draw.normal(2, 5, 12))


def test_training_with_everything_dropped(agree, draw):
    """Return the input in training at a dropout rate of 1: every update is dropped."""
    pair = agree.TransformerBlock(12, 3, 20, dropout=1.0)
    x = draw.normal(2, 5, 12)
    pair.eval()(x)
    left = pair.train().impurely(x)
    same(left, x, "With everything dropped the output should be the input.")


@pytest.mark.dtypes("float64")
def test_training_drops_in_two_places(agree, draw):
    """Apply dropout only to the attention's weights and to the output of ff."""
    rate, heads = 0.3, 2
    pair = agree.TransformerBlock(6, heads, 10, rate)
    x = draw.normal(300, 1, 6)  # with one token, each head has a single weight, 1
    y = pair.train().student(x)
    kind = isinstance(y, torch.Tensor) and y.shape == x.shape and y.dtype == x.dtype
    expect(kind, "In training, too, the result should be one tensor like the input.")
    state = pair.reference.state_dict()
    explained = torch.zeros(300, dtype=torch.bool)
    heads_lost, parts_lost = torch.zeros(300), torch.zeros(300)
    for kept in product((0.0, 1.0), repeat=heads):
        middle, added = halves(state, x, torch.tensor(kept).double() / (1 - rate))
        rest = (y - middle)[:, 0]
        dropped = rest.abs() < 1e-7
        here = (dropped | ((rest - added[:, 0] / (1 - rate)).abs() < 1e-7)).all(dim=-1)
        explained |= here
        heads_lost[here] = 1 - sum(kept) / heads
        parts_lost[here] = dropped[here].float().mean(dim=-1)
    expect(
        bool(explained.all()),
        "For a single token, each head is either dropped or enlarged by 1 / (1 - p), and so is "
        "each number that ff adds. Here something else was dropped, or nothing where something "
        "should be.",
    )
    # the shares of 600 and 1800 draws at rate 0.3 have standard deviations of 0.019 and 0.011
    shares = (heads_lost.mean().item(), parts_lost.mean().item())
    expect(all(0.17 < s < 0.43 for s in shares), "The share that is dropped should be the rate.")


def halves(state, x, scales):
    """Return x (B, 1, C) + attention (head h times scales[h]), and ff's output without dropout."""
    width = x.shape[-1]
    values = F.layer_norm(x, (width,), state["ln1.weight"], state["ln1.bias"])
    values = values @ state["attn.qkv.weight"][2 * width :].T
    values = values.unflatten(-1, (len(scales), -1)) * scales[:, None]
    x = x + values.flatten(2) @ state["attn.proj.weight"].T
    hidden = F.layer_norm(x, (width,), state["ln2.weight"], state["ln2.bias"])
    hidden = F.gelu(hidden @ state["ff.0.weight"].T + state["ff.0.bias"])
    return x, hidden @ state["ff.2.weight"].T + state["ff.2.bias"]


def test_every_dtype(agree, draw, dtype):
    """Return a result in the dtype of the input."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair(draw.normal(2, 5, 12))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return a result on the device of the input."""
    pair = agree.TransformerBlock(12, 3, 20)
    pair(draw.normal(2, 5, 12))


def test_two_objects(agree, draw):
    """Keep two blocks independent, each with separate layers."""
    one, other = agree.TransformerBlock(12, 3, 20), agree.TransformerBlock(12, 3, 20)
    one(draw.normal(2, 5, 12))
    other(draw.normal(2, 5, 12))
