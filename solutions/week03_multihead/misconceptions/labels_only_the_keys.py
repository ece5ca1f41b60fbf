"""Puts the tokens on the key axis only.

Exercise: plot_heads
Believes: one set of labels is enough.
Shows: which query a row belongs to has to be counted.
Hint: Both axes carry tokens here. Which one has none?
Rejected by: test_tokens_on_both_axes
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head])
        if tokens is not None:
            ax.set_xticks(range(len(tokens)), tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
