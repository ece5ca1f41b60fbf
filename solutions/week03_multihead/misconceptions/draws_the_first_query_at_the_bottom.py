"""Draws the first query at the bottom.

Exercise: plot_heads
Believes: a heatmap starts at the lower left, like a graph.
Shows: the picture is upside down.
Hint: Where does reading start? Look at where query 0 is in week 2's pictures.
Rejected by: test_every_head
Costs: 25 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens)
        ax.invert_yaxis()
        ax.set_title(f"Head {head + 1}")
    return figure
