"""Draws the heatmap, but does not return the Axes.

Exercise: plot_attention
Believes: The picture on the screen is the result.
Shows: The caller can't add a title or draw on the Axes that was used.
Hint: The docstring says what is returned. What would a caller need to add a title to just this
    picture?
Rejected by: test_values
Costs: 20 %
"""

from matplotlib import pyplot as _pyplot

_given = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    before = _pyplot.get_fignums()
    result = _given(weights, query_tokens, key_tokens, ax)
    if result is None and ax is None and _pyplot.get_fignums() != before:
        ax = _pyplot.gca()
    return ax if result is None and ax is not None and ax.has_data() else result
