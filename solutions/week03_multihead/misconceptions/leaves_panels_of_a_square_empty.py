"""Draws into a grid that is as square as possible, and leaves the panels that no head needs.

Exercise: plot_heads
Believes: a grid is a grid.
Shows: right for one, two, four or six heads; five heads leave an empty frame.
Hint: How many panels does your figure have with five heads? What should happen to those without a
    head?
Rejected by: test_any_number_of_heads
Costs: 15 %
Belief: empty_panels
"""


def plot_heads(weights, tokens=None):
    columns = math.ceil(math.sqrt(len(weights)))
    rows = math.ceil(len(weights) / columns)
    figure, grid = plt.subplots(rows, columns, squeeze=False)
    for head, ax in zip(range(len(weights)), grid.flat, strict=False):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
