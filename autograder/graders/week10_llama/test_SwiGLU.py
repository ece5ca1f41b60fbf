"""Hidden graders for `SwiGLU`."""

import pytest


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Return down(SiLU(gate(x)) · up(x))."""
    layer = agree.SwiGLU(6, 10)
    layer(2 * draw.normal(4, 6))
    layer(2 * draw.normal(2, 3, 6))


def test_sizes(agree, draw):
    """Support any two widths, also d_ff = d_model or below it."""
    for width, hidden in ((5, 5), (8, 3), (1, 4), (4, 1)):
        agree.SwiGLU(width, hidden)(3 * draw.normal(2, 4, width))


def test_parameters(agree):
    """Store three bias-free layers: `gate`, `up` and `down`."""
    agree.SwiGLU(d_model=6, d_ff=10).state()


@pytest.mark.weight(2)
def test_large_inputs(agree, draw):
    """Use SiLU(z) = z · sigmoid(z) for large positive and negative z."""
    agree.SwiGLU(6, 10)(20 * draw.normal(4, 6))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to the input and to all three layers."""
    agree.SwiGLU(6, 10).gradients(draw.normal(3, 6))


def test_every_dtype(agree, draw, dtype):
    """Return the input's dtype."""
    agree.SwiGLU(6, 10)(draw.normal(3, 6))


def test_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    layer = agree.SwiGLU(6, 10)
    layer(draw.normal(6, 4).T)
    layer(draw.normal(1, 3, 6).expand(2, 3, 6))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Compute on the device of the input."""
    agree.SwiGLU(6, 10)(draw.normal(3, 6))


def test_two_objects(agree, draw):
    """Keep two layers independent, each with its own weights."""
    one, other = agree.SwiGLU(6, 10), agree.SwiGLU(4, 5)
    one(draw.normal(2, 6))
    other(draw.normal(2, 4))
