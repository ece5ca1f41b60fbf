"""Lets each panel choose its own range of colours.

Exercise: plot_heads
Believes: imshow knows best.
Shows: a flat head shows as much contrast as a sharp one.
Hint: Draw a uniform head next to a one-hot head. Can the colours be compared?
Rejected by: test_one_range_of_colours
Costs: 30 %
"""


def plot_heads(weights, tokens=None):
    heads = len(weights)
    figure, grid = plt.subplots(1, heads, figsize=(3 * heads, 3), squeeze=False)
    for head, ax in enumerate(grid[0]):
        _draw_attention(ax, weights[head], tokens).autoscale()
        ax.set_title(f"Head {head + 1}")
    return figure
