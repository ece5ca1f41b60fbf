"""Draws the heatmaps, but does not return the figure.

Exercise: plot_heads
Believes: The picture on the screen is the result.
Shows: The caller can't save the figure.
Hint: The docstring says what is returned. What would a caller need to save the picture?
Rejected by: test_every_head
Costs: 20 %
"""

from matplotlib import pyplot as _pyplot

_given = plot_heads


def plot_heads(weights, tokens=None):
    before = _pyplot.get_fignums()
    result = _given(weights, tokens)
    if result is None and _pyplot.get_fignums() != before:
        figure = _pyplot.gcf()
        return figure if any(ax.has_data() for ax in figure.axes) else None
    return result
