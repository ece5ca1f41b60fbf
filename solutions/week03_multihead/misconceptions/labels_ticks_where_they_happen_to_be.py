"""Sets the tick labels without setting the ticks.

Exercise: plot_heads
Believes: there is a tick at every cell.
Shows: the tokens are at the positions that Matplotlib chose, shifted or with gaps.
Hint: Where does Matplotlib put its ticks by itself? Say where you want them before you name them.
Rejected by: test_tokens_on_both_axes
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    figure, grid = plt.subplots(1, len(weights), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head])
        ax.set_title(f"Head {head + 1}")
        if tokens is not None:
            ax.set_xticklabels(tokens)
            ax.set_yticklabels(tokens)
    return figure
