"""Closes all figures before it draws.

Exercise: plot_attention
Believes: a new picture should start with no other figure open.
Shows: what the caller had drawn before is gone.
Hint: Whose figures does plt.close("all") close?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 15 %
"""

_plot_on_what_is_there = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        plt.close("all")
    return _plot_on_what_is_there(weights, query_tokens, key_tokens, ax)
