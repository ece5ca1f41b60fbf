"""Titles the panels "Head 0" and so on.

Exercise: plot_heads
Believes: panels are numbered like the axis.
Shows: every title is one too low.
Hint: Read the titles in the docstring: what is the first head called?
Rejected by: test_every_head
Costs: 15 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head}")
    return figure
