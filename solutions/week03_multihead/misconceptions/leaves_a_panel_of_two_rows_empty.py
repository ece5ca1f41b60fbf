"""Draws into two rows of equal length, and so leaves a panel empty if the number of heads is odd.

Exercise: plot_heads
Believes: the number of heads is even.
Shows: one head and five heads each leave an empty frame.
Hint: How many panels does your figure have with five heads? What should happen to the one without a
    head?
Rejected by: test_any_number_of_heads
Costs: 15 %
Belief: empty_panels
"""


def plot_heads(weights, tokens=None):
    columns = math.ceil(len(weights) / 2)
    figure, grid = plt.subplots(2, columns, squeeze=False)
    for head, ax in zip(range(len(weights)), grid.flat, strict=False):
        _draw_attention(ax, weights[head], tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
