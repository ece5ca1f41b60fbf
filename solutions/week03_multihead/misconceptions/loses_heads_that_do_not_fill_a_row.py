"""Draws no panel for the last of three or five heads.

Exercise: plot_heads
Believes: the number of heads is always a multiple of the number of columns.
Shows: five heads give four panels.
Hint: Draw five heads. How many panels are there?
Rejected by: test_any_number_of_heads
Costs: 30 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    rows = max(1, heads // 2)
    figure, grid = plt.subplots(1, rows * min(heads, 2), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
