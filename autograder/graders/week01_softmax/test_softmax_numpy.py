"""Hidden graders for `softmax_numpy`."""

import numpy as np
import pytest

from autograder.authors import expect, rows_sum_to_one


@pytest.mark.weight(3)
def test_values(agree, draw):
    """Turn each row into weights proportional to exp(x) that sum to 1."""
    rows_sum_to_one(agree.softmax_numpy(draw.array.normal(3, 5, std=2.0)))
    agree.softmax_numpy(draw.array.normal(4, 6))


@pytest.mark.weight(2)
def test_any_number_of_axes(agree, draw):
    """Support any number of axes, from a single row to batch and heads."""
    for shape in ((7,), (3, 5), (2, 3, 4), (2, 3, 4, 5)):
        agree.softmax_numpy(draw.array.normal(*shape))


@pytest.mark.weight(2)
def test_any_axis(agree, draw):
    """Normalise over the axis `axis`, counted from either end."""
    scores = draw.array.normal(3, 4, 5, std=2.0)
    for axis in (0, 1, 2, -2, -3):
        agree.softmax_numpy(scores, axis=axis)


def test_square(agree, draw):
    """Distinguish rows from columns in a square array."""
    agree.softmax_numpy(draw.array.normal(4, 4))
    agree.softmax_numpy(draw.array.normal(4, 4), 0)


@pytest.mark.weight(2)
def test_large_scores(agree, draw):
    """Avoid overflow and underflow for scores of ±10000 and beyond."""
    for size in (1e3, 1e4, 1e6):
        agree.softmax_numpy((draw.permutation(9).numpy() - 4.0)[np.newaxis] * size)


@pytest.mark.weight(8)
def test_rows_of_different_magnitude(agree, draw):
    """Compute each row independently, even if other rows are far larger or smaller."""
    heights = np.array([0.0, -3e3, 8e3, 120.0], dtype=np.float32)[:, np.newaxis]
    scores = heights + draw.array.integers(0, 6, 4, 6).astype(np.float32) / 8
    # Near 8000, float32 values are 1/2048 apart: multiples of 1/8 are exact, a logsumexp is not.
    agree.within(atol=2e-3).softmax_numpy(scores)
    agree.within(atol=2e-3).softmax_numpy(scores.T, axis=0)


def test_shifted_rows(agree, draw):
    """Return the same result if a constant is added to a whole row."""
    scores = draw.array.integers(-16, 17, 3, 7).astype(np.float32) / 8
    for shift in (1000.0, -1000.0):
        # Near 1000, float32 values are 6e-5 apart: multiples of 1/8 are exact, a logsumexp is not.
        agree.within(atol=2e-4).softmax_numpy(scores + np.float32(shift))


@pytest.mark.weight(2)
def test_minus_infinity(agree, draw):
    """Give an entry of -inf a weight of exactly 0, and normalise over the finite entries."""
    for depth in (0.0, -2e4):
        scores = draw.array.normal(4, 6, std=0.5) + np.float32(depth)
        scores[[0, 1, 1, 3], [2, 0, 5, 1]] = -np.inf
        # Near 20000, float32 values are 2e-3 apart.
        weights = agree.within(atol=4e-3 if depth else 2e-6).softmax_numpy(scores)
        expect(
            (weights[np.isneginf(scores)] == 0).all(),
            "An entry of -inf should get a weight of exactly 0.",
        )


@pytest.mark.weight(2)
@pytest.mark.dtypes("float16", "float32", "float64")
def test_float_types(agree, draw, dtype):
    """Return weights in the dtype of the scores, accurate to the precision of that dtype."""
    agree.softmax_numpy(draw.array.normal(2, 3, 4, 6))
    agree.softmax_numpy(draw.array.normal(2, 3, 4, 6), axis=-2)


@pytest.mark.weight(2)
def test_integers(agree, draw):
    """Return float64 weights for integer scores."""
    agree.softmax_numpy(draw.array.integers(-3, 4, 2, 3, 5))
    agree.softmax_numpy(draw.array.integers(-3, 4, 2, 3, 5).astype(np.int32), axis=-2)


def test_small_integers(agree, draw):
    """Avoid overflow in small integer dtypes."""
    scores = draw.array.integers(100, 127, 3, 5).astype(np.int8)
    scores[:, 2] *= -1
    agree.softmax_numpy(scores)


def test_single_entry(agree, draw):
    """Give the only entry of a row the weight 1."""
    agree.softmax_numpy(draw.array.normal(4, 1))
    agree.softmax_numpy(draw.array.normal(1, 4), axis=0)
    agree.softmax_numpy(draw.array.normal(1))


def test_views(agree, draw):
    """Accept transposed, strided and broadcast views, and leave them unchanged."""
    agree.softmax_numpy(draw.array.normal(5, 3).T)
    agree.softmax_numpy(draw.array.normal(4, 10)[:, ::2])
    agree.softmax_numpy(np.broadcast_to(draw.array.normal(1, 5), (3, 5)), axis=1)


def test_long_rows(agree, draw):
    """Include every entry in rows of more than a thousand entries."""
    agree.softmax_numpy(draw.array.normal(2, 1500))
    agree.softmax_numpy(draw.array.normal(1200, 2), axis=0)
