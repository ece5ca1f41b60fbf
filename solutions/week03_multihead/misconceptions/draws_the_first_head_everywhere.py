"""Draws the first head in every panel.

Exercise: plot_heads
Believes: the panel's number selects the head by itself.
Shows: all panels show the same picture.
Hint: Give the heads different weights and compare the panels.
Rejected by: test_every_head
Costs: 40 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[0], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
