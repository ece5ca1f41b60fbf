"""Hidden graders for `feature_map`."""

import pytest
import torch

from autograder.authors import expect


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Return x + 1 for positive x and exp(x) for all others."""
    agree.feature_map(draw.normal(4, 6))
    agree.feature_map(3 * draw.normal(2, 5))


def test_at_zero(agree):
    """Return 1 at 0."""
    agree.feature_map(torch.tensor([0.0, 1.0, -1.0]))


def test_shapes(agree, draw):
    """Support any number of axes, also of size 1."""
    for shape in ((), (1,), (3,), (2, 1, 3), (2, 3, 1, 4)):
        agree.feature_map(draw.normal(*shape))


@pytest.mark.weight(2)
def test_large_values(agree, draw):
    """Return finite values for large positive and negative x."""
    agree.feature_map(torch.cat([300 * draw.normal(20), torch.tensor([1000.0, -1000.0])]))


def test_never_negative(submission, draw):
    """Return no negative value."""
    found = submission.feature_map(20 * draw.normal(200))
    expect(bool((found >= 0).all()), "Some features are negative.")


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients: 1 for positive x, exp(x) for negative x."""
    agree.gradients.feature_map(2 * draw.normal(4, 5))


@pytest.mark.weight(2)
def test_gradients_of_large_values(agree, draw):
    """Return finite gradients for large positive x, where exp(x) overflows."""
    agree.gradients.feature_map(torch.cat([draw.normal(4), torch.tensor([200.0, 900.0])]))


def test_every_dtype(agree, draw, dtype):
    """Return the dtype of x."""
    agree.feature_map(draw.normal(3, 6))


def test_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.feature_map(draw.normal(6, 4).T)
    agree.feature_map(draw.normal(1, 6).expand(3, 6))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return the result on the device of x."""
    agree.feature_map(draw.normal(3, 6))
