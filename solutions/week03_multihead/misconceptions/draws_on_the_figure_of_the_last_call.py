"""Draws on the current figure.

Exercise: plot_heads
Believes: plt.gcf() is a fresh figure.
Shows: the panels of an earlier call are still there.
Hint: Call your function twice and look at the second figure.
Rejected by: test_each_call_draws_a_new_figure
Costs: 25 %
"""


def plot_heads(weights, tokens=None):
    figure = plt.gcf()
    for head, matrix in enumerate(weights):
        ax = figure.add_subplot(1, len(weights), head + 1)
        _draw_attention(ax, matrix, tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
