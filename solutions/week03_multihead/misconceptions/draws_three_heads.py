"""Makes a number of panels that is not the number of heads.

Exercise: plot_heads
Believes: every model has three heads.
Shows: an error or missing panels for any other number of heads.
Hint: How many panels does your figure have for two heads, and for five?
Rejected by: test_any_number_of_heads
Costs: 30 %
"""


def plot_heads(weights, tokens=None):
    figure, grid = plt.subplots(1, 3, figsize=(9, 3))
    for head, (ax, matrix) in enumerate(zip(grid, weights)):
        _draw_attention(ax, matrix, tokens)
        ax.set_title(f"Head {head + 1}")
    return figure
