"""Week 1: a straight line through points, in NumPy."""

import numpy as np


def predict(x: np.ndarray, slope: float, intercept: float) -> np.ndarray:
    """The line's heights.

    Args:
        x: Places of any shape.
        slope, intercept: The line.

    Returns:
        An array of the shape of `x`.
    """
    # TODO: a line is a product and a sum.
    # BEGIN SOLUTION
    return slope * x + intercept
    # END SOLUTION


def fit_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The line with the least sum of squared errors.

    Args:
        x, y: Places and heights of n points, shape (n,), not all at one place.

    Returns:
        Slope and intercept.
    """
    # TODO: how do x and y vary together, compared with x alone?
    # BEGIN SOLUTION
    centred = x - x.mean()
    steepness = float((centred * (y - y.mean())).sum() / (centred * centred).sum())
    return steepness, float(y.mean() - steepness * x.mean())
    # END SOLUTION
