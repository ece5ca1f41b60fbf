"""Hidden graders for `from_torch`."""

import pytest
import torch

from autograder.authors import torch_mha


def drawn(draw, width=12, heads=3, bias=True):
    """An nn.MultiheadAttention whose parameters are all drawn, the biases too."""
    state = {
        "in_proj_weight": draw.normal(3 * width, width, std=0.4),
        "out_proj.weight": draw.normal(width, width, std=0.4),
    }
    if bias:
        state["in_proj_bias"] = draw.normal(3 * width, std=0.5)
        state["out_proj.bias"] = draw.normal(width, std=0.5)
    return torch_mha(width, heads, bias=bias, state=state)


# Only the test that asks for it looks at the random state and at shared memory (all others are
# `impurely`): forgetting one of them should not cost the whole exercise.


@pytest.mark.weight(2)
def test_self_attention(agree, draw):
    """The copy gives the same outputs and the same weights per head."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair(draw.normal(2, 5, 12))


def test_cross_attention(agree, draw):
    """The copy treats query, key, value and mask as the course's module does."""
    pair = agree.impurely.from_torch(drawn(draw))
    mask = torch.ones(5, 7, dtype=torch.bool).tril()
    pair(draw.normal(2, 5, 12), draw.normal(2, 7, 12), draw.normal(2, 7, 12), mask=mask)


def test_without_biases(agree, draw):
    """A module made with bias=False becomes one whose biases are zero."""
    pair = agree.impurely.from_torch(drawn(draw, bias=False))
    pair(draw.normal(2, 5, 12))


def test_sizes(agree, draw):
    """Width and number of heads are those of PyTorch's module."""
    for width, heads in ((6, 1), (10, 5), (6, 6)):
        pair = agree.impurely.from_torch(drawn(draw, width, heads))
        pair(draw.normal(2, 4, width))


@pytest.mark.weight(3)
def test_the_copy_can_be_trained(agree, draw):
    """Gradients reach the input and every parameter of the copy."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair.gradients(draw.normal(2, 5, 12))
    pair = agree.impurely.from_torch(drawn(draw, bias=False))
    pair.gradients(draw.normal(2, 5, 12))


@pytest.mark.weight(3)
def test_leaves_no_trace(agree, draw):
    """The copy shares no memory with the original, and the random state is left alone."""
    agree.from_torch(drawn(draw, 6, 2))(draw.normal(2, 4, 6))
    agree.from_torch(drawn(draw, 10, 5, bias=False))(draw.normal(2, 4, 10))


def test_every_dtype(agree, draw, dtype):
    """The copy has the dtype of PyTorch's module, in the biases that it adds as well."""
    for bias in (True, False):
        pair = agree.impurely.from_torch(drawn(draw, bias=bias))
        pair(draw.normal(2, 5, 12))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """The copy is on the device of PyTorch's module."""
    pair = agree.impurely.from_torch(drawn(draw))
    pair(draw.normal(2, 5, 12))
