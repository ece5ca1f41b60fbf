"""Hidden graders for `from_torch`."""

import pytest
import torch

from autograder.authors import torch_mha


def drawn(draw, width=12, heads=3, bias=True):
    """Create an nn.MultiheadAttention with random weights and, if `bias`, random biases."""
    state = {
        "in_proj_weight": draw.normal(3 * width, width, std=0.4),
        "out_proj.weight": draw.normal(width, width, std=0.4),
    }
    if bias:
        state["in_proj_bias"] = draw.normal(3 * width, std=0.5)
        state["out_proj.bias"] = draw.normal(width, std=0.5)
    return torch_mha(width, heads, bias=bias, state=state)


# Only test_leaves_no_trace checks the random state and shared memory. All other tests use
# `impurely`, so that a program that shares memory or changes the state fails only one test.


@pytest.mark.weight(2)
def test_self_attention(agree, draw):
    """Create a copy that returns the outputs of PyTorch's module and the weights of each head."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair(draw.normal(2, 5, 12))


def test_cross_attention(agree, draw):
    """Create a copy that takes query, key, value and mask as `MultiHeadAttention` does."""
    pair = agree.impurely.from_torch(drawn(draw))
    mask = torch.ones(5, 7, dtype=torch.bool).tril()
    pair(draw.normal(2, 5, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12), mask=mask)


def test_without_biases(agree, draw):
    """Give the copy zero biases if the original has `bias=False`."""
    pair = agree.impurely.from_torch(drawn(draw, bias=False))
    pair(draw.normal(2, 5, 12))


def test_sizes(agree, draw):
    """Use the width and the number of heads of PyTorch's module."""
    for width, heads in ((6, 1), (10, 5), (6, 6)):
        pair = agree.impurely.from_torch(drawn(draw, width, heads))
        pair(draw.normal(2, 4, width))


@pytest.mark.weight(3)
def test_the_copy_can_be_trained(agree, draw):
    """Propagate gradients to the input and every parameter of the copy."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair.gradients(draw.normal(2, 5, 12))
    pair = agree.impurely.from_torch(drawn(draw, bias=False))
    pair.gradients(draw.normal(2, 5, 12))


@pytest.mark.weight(3)
def test_leaves_no_trace(agree, draw):
    """Share no memory with the original, and leave the random state unchanged."""
    agree.from_torch(drawn(draw, 6, 2))(draw.normal(2, 4, 6))
    agree.from_torch(drawn(draw, 10, 5, bias=False))(draw.normal(2, 4, 10))


def test_every_dtype(agree, draw, dtype):
    """Use the dtype of PyTorch's module, also for zero biases."""
    for bias in (True, False):
        pair = agree.impurely.from_torch(drawn(draw, bias=bias))
        pair(draw.normal(2, 5, 12))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Create the copy on the device of PyTorch's module."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair(draw.normal(2, 5, 12))
