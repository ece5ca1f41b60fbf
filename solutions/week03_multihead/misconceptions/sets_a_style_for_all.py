"""Changes the global settings of matplotlib.

Exercise: plot_heads
Believes: settings belong to the picture.
Shows: every later picture of the program looks otherwise.
Hint: Which other code uses `plt.rcParams` and `plt.style.use`? Which settings can you give to this
    one picture alone?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""


_drawn = plot_heads


def plot_heads(weights, tokens=None):
    figure = _drawn(weights, tokens)
    plt.rcParams.update({"font.size": 9.0, "axes.grid": True})
    return figure
