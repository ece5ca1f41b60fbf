"""Draws each head with keys down and queries across.

Exercise: plot_heads
Believes: rows of a picture are keys.
Shows: a causal head is dark above the diagonal instead of below it.
Hint: Row i of the weights is query i. Where should it be drawn?
Rejected by: test_every_head
Costs: 35 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head].transpose(0, 1), tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
