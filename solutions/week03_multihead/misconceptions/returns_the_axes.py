"""Returns something other than the figure.

Exercise: plot_heads
Believes: axes are what a plotting function returns, as in week 2.
Shows: the caller cannot save the picture as a whole.
Hint: Which type does the signature promise?
Rejected by: test_every_head
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return list(grid[0])
