"""Changes the global settings of matplotlib.

Exercise: plot_attention
Believes: settings belong to the picture.
Shows: every later picture of the program looks otherwise.
Hint: Which other code uses `plt.rcParams` and `plt.style.use`? Which settings can you give to this
    one picture alone?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""


_drawn = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    ax = _drawn(weights, query_tokens, key_tokens, ax)
    plt.rcParams.update({"font.size": 9.0, "axes.grid": True})
    return ax
