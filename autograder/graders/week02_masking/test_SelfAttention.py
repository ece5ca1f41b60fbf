"""Hidden graders for `SelfAttention` (week 2: the torch module)."""

import pytest
import torch

from autograder.authors import expect, same, zero_where


def triangle(length):
    """Return the causal mask of `length` tokens."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def some(draw, *shape):
    """Draw a mask that allows each query at least one key."""
    return draw.bools(*shape, p=0.5) | (
        torch.arange(shape[-2])[:, None] % shape[-1] == torch.arange(shape[-1])
    )


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return the same output and weights as the reference with the same parameters."""
    pair = agree.SelfAttention(6)
    pair(draw.normal(3, 5, 6))
    pair(draw.normal(2, 7, 6))


def test_parameters(agree, draw):
    """Define three projections, W_q, W_k and W_v, each square and without a bias."""
    pair = agree.SelfAttention(4)
    pair(draw.normal(2, 3, 4))
    shapes = {name: tuple(value.shape) for name, value in pair.student.state_dict().items()}
    expected = {f"{name}.weight": (4, 4) for name in ("W_q", "W_k", "W_v")}
    expect(
        shapes == expected,
        "The parameters should be the weights of W_q, W_k and W_v, without a bias.",
    )


@pytest.mark.weight(2)
def test_mask(agree, draw):
    """Apply a mask (T, T) to every sequence, or mask[b] of a mask (B, T, T) to sequence b."""
    pair = agree.SelfAttention(6)
    pair(draw.normal(3, 5, 6), some(draw, 5, 5))
    pair(draw.normal(3, 5, 6), mask=some(draw, 3, 5, 5))
    pair(draw.normal(5, 5, 6), mask=some(draw, 5, 5, 5))


def test_causal(agree, draw):
    """Keep all earlier outputs unchanged under a causal mask if the last token changes."""
    pair = agree.SelfAttention(6)
    x = draw.normal(2, 5, 6)
    before, weights = pair(x, mask=triangle(5))
    zero_where(weights, ~triangle(5).expand(2, 5, 5))
    x[:, -1] += 3.0
    after, _ = pair(x, mask=triangle(5))
    same(after[:, :-1], before[:, :-1], "The earlier outputs should not depend on the last token.")


def test_sees_everything_without_a_mask(agree, draw):
    """Let each token attend to all tokens, including later ones, if there is no mask."""
    pair = agree.SelfAttention(5)
    _, weights = pair(draw.normal(2, 4, 5))
    expect(bool((weights > 0).all()), "Without a mask every weight should be above 0.")


@pytest.mark.weight(4)
def test_token_that_sees_nothing(agree, draw):
    """Return zeros for a token whose keys are all masked, and no NaN in any gradient."""
    pair = agree.SelfAttention(6)
    mask = some(draw, 3, 5, 5)
    mask[1, 2] = False
    mask[2] = False
    pair.gradients(draw.normal(3, 5, 6), mask=mask)


def test_gradients(agree, draw):
    """Compute correct gradients for the tokens and all three projections."""
    pair = agree.SelfAttention(6)
    pair.gradients(draw.normal(2, 5, 6))
    pair.gradients(draw.normal(2, 5, 6), mask=some(draw, 5, 5))


def test_width_sets_the_scale(agree, draw):
    """Divide the scores by √C for any width C of the module."""
    for width in (1, 3, 32):
        agree.SelfAttention(width)(draw.normal(2, 4, width), mask=triangle(4))


def test_keeps_the_dtype(agree, draw, dtype):
    """Return output and weights in the dtype of the module and the tokens."""
    # √4 is exact, so a program that rounds √C to float32 passes.
    pair = agree.SelfAttention(4)
    pair(draw.normal(2, 5, 4), mask=some(draw, 5, 5))


def test_single_token(agree, draw):
    """Let the token of a sequence of length one attend to itself."""
    pair = agree.SelfAttention(4)
    pair(draw.normal(1, 1, 4))
    pair(draw.normal(1, 1, 4), mask=torch.tensor([[True]]))


def test_strided_tokens(agree, draw):
    """Accept a transposed view as tokens, and a transposed or expanded view as mask."""
    pair = agree.SelfAttention(6)
    pair(draw.normal(5, 2, 6).transpose(0, 1), mask=some(draw, 5, 5).transpose(0, 1) | triangle(5))
    pair(draw.normal(3, 5, 6), mask=some(draw, 1, 5, 5).expand(3, 5, 5))


@pytest.mark.weight(1, elsewhere=4)
def test_device(agree, draw, device):
    """Return output and weights on the device of the module, with and without a mask."""
    pair = agree.SelfAttention(6)
    pair(draw.normal(2, 5, 6), mask=triangle(5))
    pair(draw.normal(2, 5, 6))


def test_masks_of_several_calls(agree, draw):
    """Apply the mask of the current call, if any, and no mask from an earlier call."""
    pair = agree.SelfAttention(6)
    x = draw.normal(2, 5, 6)
    for mask in (triangle(5), some(draw, 5, 5), None, triangle(5)):
        pair(x, mask)
