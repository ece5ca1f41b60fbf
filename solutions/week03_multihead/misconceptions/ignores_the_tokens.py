"""Leaves panels without the tokens as tick labels.

Exercise: plot_heads
Believes: tokens are drawn by the caller.
Shows: the axes carry numbers.
Hint: Follow `tokens` through your function. Which panels do they reach?
Rejected by: test_tokens_on_both_axes
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head])
        ax.set_title(f"Head {head + 1}")
    return figure
