"""Hidden graders for `merge_heads`."""

import pytest

from autograder.authors import same


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Concatenate the heads of each token in order."""
    agree.merge_heads(draw.normal(2, 3, 5, 4))
    agree.merge_heads(draw.normal(3, 5, 7, 2))


def test_undoes_the_split(agree, reference, draw):
    """Undo `split_heads`: return the tensor that was split, for any number of heads."""
    x = draw.normal(3, 5, 12)
    for heads in (2, 4, 12):
        merged = agree.merge_heads(reference.split_heads(x, heads))
        same(merged, x, "Merging the heads of x should give x back.")


def test_singleton_axes(agree, draw):
    """Keep all three axes for a single sequence, token, head or feature."""
    for shape in ((1, 3, 5, 4), (2, 3, 1, 4), (2, 1, 5, 4), (2, 3, 5, 1), (1, 1, 1, 1)):
        agree.merge_heads(draw.normal(*shape))


def test_inputs_that_are_views(agree, draw):
    """Return the same result for transposed, expanded and strided inputs as for their copies."""
    agree.merge_heads(draw.normal(2, 3, 4, 5).transpose(2, 3))
    agree.merge_heads(draw.normal(2, 1, 5, 4).expand(2, 3, 5, 4))
    agree.merge_heads(draw.normal(2, 3, 10, 4)[:, :, ::2])


@pytest.mark.weight(3)
def test_gradients(agree, draw):
    """Propagate each feature's gradient to its head and token."""
    agree.gradients.merge_heads(draw.normal(2, 3, 5, 4))


def test_every_dtype(agree, draw, dtype):
    """Return a result in the dtype of the heads."""
    agree.merge_heads(draw.normal(2, 3, 5, 4))


@pytest.mark.weight(1, elsewhere=2)
def test_device(agree, draw, device):
    """Return a result on the device of the heads."""
    agree.merge_heads(draw.normal(2, 3, 5, 4))


@pytest.mark.weight(0.5)
def test_trained_heads(agree, trained_heads):
    """Concatenate the outputs of all heads of a layer of a trained language model."""
    agree.merge_heads(trained_heads)
