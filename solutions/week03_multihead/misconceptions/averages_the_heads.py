"""Draws the mean over the heads in a single panel.

Exercise: plot_heads
Believes: the mean shows what all heads do.
Shows: one panel, and what single heads do cannot be seen.
Hint: How many panels does the docstring promise for H heads?
Rejected by: test_every_head
Costs: 90 %
Belief: averaged_weights
"""


def plot_heads(weights, tokens=None):
    weights = weights.mean(dim=0, keepdim=True)
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
