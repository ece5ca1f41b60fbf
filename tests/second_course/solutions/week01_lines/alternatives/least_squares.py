"""By a library's least squares and a loop."""

import numpy as np


def predict(x, slope, intercept):
    heights = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        heights[place] = slope * x[place] + intercept
    return heights


def fit_line(x, y):
    table = np.stack([x, np.ones_like(x)], axis=1)
    (slope, intercept), *_ = np.linalg.lstsq(table, y, rcond=None)
    return float(slope), float(intercept)
