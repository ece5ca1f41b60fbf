"""Draws into a grid of full rows and leaves the panels that no head needs.

Exercise: plot_heads
Believes: a grid is a grid.
Shows: five heads in rows of four leave three empty frames.
Hint: How many panels does your figure have with five heads? What should happen to those without a
    head?
Rejected by: test_any_number_of_heads
Costs: 20 %
Belief: empty_panels
"""


def plot_heads(weights, tokens=None):
    rows = math.ceil(len(weights) / 4)
    figure, grid = plt.subplots(rows, 4, squeeze=False)
    for head, ax in zip(range(len(weights)), grid.flat, strict=False):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
