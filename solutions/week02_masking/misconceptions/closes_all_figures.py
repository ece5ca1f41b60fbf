"""Opens or closes figures beside its own.

Exercise: plot_attention
Believes: an empty desk, or a new figure in any case, is a good start.
Shows: what the caller had drawn before is gone, or an empty figure stands beside the drawing.
Hint: Which figures are open before your call, and which after it? Which of them did the caller ask
    for?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 15 %
"""

_plot_on_what_is_there = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        plt.close("all")
    return _plot_on_what_is_there(weights, query_tokens, key_tokens, ax)
