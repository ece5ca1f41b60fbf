"""Puts the tokens on the first panel only.

Exercise: plot_heads
Believes: the other panels share the labels.
Shows: the panels after the first have numbers for labels.
Hint: Each panel should be readable alone. Which ones have labels?
Rejected by: test_tokens_on_both_axes
Costs: 15 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens if head == 0 else None)
        ax.set_title(f"Head {head + 1}")
    return figure
