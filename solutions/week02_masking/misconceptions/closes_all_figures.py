"""Opens or closes other figures.

Exercise: plot_attention
Believes: an empty desk, or a new figure in any case, is a good start.
Shows: the caller's earlier drawing is gone, or there is an additional empty figure.
Hint: Which figures are open before your call, and which after it? Which of them did the caller ask
    for?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""

_plot_on_what_is_there = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        plt.close("all")
    return _plot_on_what_is_there(weights, query_tokens, key_tokens, ax)
