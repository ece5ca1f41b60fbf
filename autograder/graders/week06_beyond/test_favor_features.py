"""Hidden graders for `favor_features`. Inputs are small enough that `exp` does not overflow."""

import pytest

from autograder.authors import expect


@pytest.mark.weight(2)
def test_values(agree, draw):
    """Return exp(w · x' - ‖x'‖²/2) / √r for each row w of the projection, where x' = x / d^¼."""
    features = agree.favor_features(draw.normal(2, 5, 6), draw.normal(4, 6))
    expect((features > 0).all(), "Features should be positive.")


def test_any_leading_dimensions(agree, draw):
    """Apply the same projection to inputs without a batch, with a batch, and with heads."""
    projection = draw.normal(7, 4)
    for lead in ((), (1,), (2, 3)):
        agree.favor_features(draw.normal(*lead, 5, 4), projection)


def test_head_size(agree, draw):
    """Divide x by the fourth root of d, for any d."""
    for d in (1, 2, 16):
        agree.favor_features(draw.normal(3, 5, d), draw.normal(6, d))


def test_number_of_features(agree, draw):
    """Divide the features by the square root of their number, for any number."""
    for r in (1, 3, 20):
        agree.favor_features(draw.normal(2, 5, 4), draw.normal(r, 4))


@pytest.mark.weight(2)
def test_long_vectors(agree, draw):
    """Use the squared norm of the scaled x, not of x itself."""
    agree.favor_features(draw.normal(3, 5, 6, std=2.0), draw.normal(4, 6))


@pytest.mark.weight(2)
def test_gradients(agree, draw):
    """Propagate gradients to x and to the projection."""
    agree.gradients.favor_features(draw.normal(2, 3, 5, 6), draw.normal(4, 6))


def test_every_dtype(agree, draw, dtype):
    """Return features with the dtype of x."""
    agree.favor_features(draw.normal(5, 6, std=0.5), draw.normal(4, 6, std=0.5))


def test_singleton_axes(agree, draw):
    """Keep axes of size 1, for a single token or feature."""
    agree.favor_features(draw.normal(2, 1, 6), draw.normal(1, 6))
    agree.favor_features(draw.normal(1, 1), draw.normal(3, 1))


def test_inputs_that_are_views(agree, draw):
    """Accept transposed and expanded inputs, and leave them unchanged."""
    agree.favor_features(draw.normal(5, 2, 6).transpose(0, 1), draw.normal(6, 4).T)
    agree.favor_features(draw.normal(1, 5, 6).expand(3, 5, 6), draw.normal(1, 6).expand(4, 6))


@pytest.mark.weight(1, elsewhere=3)
def test_device(agree, draw, device):
    """Return features on the device of x."""
    agree.favor_features(draw.normal(2, 3, 5, 6), draw.normal(4, 6))


def test_gradients_with_singleton_axes(agree, draw):
    """Compute gradients for a single token, a single feature, and vectors of size 1."""
    for tokens, size, features in ((1, 6, 4), (5, 1, 4), (5, 6, 1)):
        agree.gradients.favor_features(draw.normal(1, tokens, size), draw.normal(features, size))


def test_many_tokens(agree, draw):
    """Compute features for each of more than a thousand tokens."""
    agree.favor_features(draw.normal(1100, 2), draw.normal(3, 2))


def test_two_calls_before_their_gradients(agree, draw):
    """Save data for backward per call: later calls must not alter the gradients of earlier ones."""
    first, second = ((draw.normal(2, 5, 4), draw.normal(6, 4)) for _ in range(2))
    agree.gradients.in_a_row.favor_features(first, second)
