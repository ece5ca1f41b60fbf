"""Hidden graders for `RMSNorm`. Weights are drawn, so a weight that is left out shows."""

import pytest

from autograder.authors import expect


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Divide each vector by the root of the mean of its squares, and multiply by `weight`."""
    norm = agree.RMSNorm(6)
    norm(draw.normal(4, 6))
    norm(5 * draw.normal(2, 3, 6))


@pytest.mark.weight(2)
def test_no_mean_is_subtracted(agree, draw):
    """Normalise by the mean square, not by the variance: a common shift matters."""
    norm = agree.RMSNorm(8)
    norm(draw.normal(3, 8) + 4)
    norm(draw.normal(3, 8) - 20)


@pytest.mark.weight(2)
def test_eps(agree, draw):
    """Add eps to the mean of the squares, inside the root."""
    for eps in (1e-5, 0.3, 2.0):
        agree.RMSNorm(6, eps)(draw.normal(3, 6))
    agree.RMSNorm(6, eps=0.1)(0.2 * draw.normal(3, 6))


def test_default_eps(agree, draw):
    """Use 1e-5 as the default eps, which shows in short vectors."""
    agree.RMSNorm(6)(3e-3 * draw.normal(3, 6))


def test_zeros(agree, draw):
    """Return zeros, and finite gradients, for a vector of zeros."""
    x = draw.normal(3, 6)
    x[1] = 0.0
    agree.RMSNorm(6)(x)
    agree.RMSNorm(6, eps=0.5).gradients(x)


def test_shapes(agree, draw):
    """Normalise the last axis, for any leading axes, also of size 1."""
    norm = agree.RMSNorm(5)
    for shape in ((5,), (1, 5), (5, 5), (2, 1, 3, 5)):
        norm(draw.normal(*shape))
    agree.RMSNorm(1)(draw.normal(4, 1))


@pytest.mark.weight(2)
def test_weight_starts_at_one(submission, draw):
    """Begin with a weight of 1 for every feature."""
    weight = submission.RMSNorm(6).weight
    expect(bool((weight == 1).all()), "A new norm should have a weight of 1 for every feature.")


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to the input and to `weight`."""
    agree.RMSNorm(6).gradients(draw.normal(3, 4, 6))


@pytest.mark.weight(2)
def test_every_dtype(agree, draw, dtype):
    """Return the input's dtype, as precisely as the dtype allows."""
    agree.RMSNorm(6)(draw.normal(3, 4, 6))


@pytest.mark.weight(3)
@pytest.mark.dtypes("float16")
def test_large_halves(agree, draw, dtype):
    """Compute the mean of the squares in at least float32: 300² overflows in float16."""
    agree.RMSNorm(16)(300 * draw.normal(3, 16))


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16")
def test_small_halves(agree, draw, dtype):
    """Compute with small entries in at least float32: (1e-4)² is 0 in float16."""
    agree.RMSNorm(16, eps=1e-8)(2e-4 * draw.normal(3, 16))


def test_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    norm = agree.RMSNorm(6)
    norm(draw.normal(6, 4).T)
    norm(draw.normal(1, 6).expand(3, 6))


@pytest.mark.weight(1, elsewhere=5)
def test_device(agree, draw, device):
    """Create the parameter so that it moves with the module."""
    agree.RMSNorm(6)(draw.normal(3, 6))


def test_two_objects(agree, draw):
    """Keep two norms independent, each with its own weight and eps."""
    one, other = agree.RMSNorm(6, 0.5), agree.RMSNorm(4, 2.0)
    one(draw.normal(2, 6))
    other(draw.normal(2, 4))
