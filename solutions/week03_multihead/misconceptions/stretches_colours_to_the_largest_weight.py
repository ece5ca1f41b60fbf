"""Ends the colour range at the largest weight.

Exercise: plot_heads
Believes: a range that fits the data is easier to read.
Shows: nearly uniform heads look sharp, and two figures cannot be compared.
Hint: Week 2 fixed the range of colours so that pictures of different models can be compared. What was it?
Rejected by: test_one_range_of_colours
Costs: 20 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens).set_clim(0, float(weights.max()))
        ax.set_title(f"Head {head + 1}")
    return figure
