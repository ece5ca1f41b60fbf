"""Changes the settings of matplotlib for everybody.

Exercise: plot_attention
Believes: settings belong to the picture.
Shows: every later picture of the program looks otherwise.
Hint: Whose are `plt.rcParams` and `plt.style.use`? What does one picture need that it cannot be given itself?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 15 %
"""


_drawn = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    ax = _drawn(weights, query_tokens, key_tokens, ax)
    plt.rcParams.update({"font.size": 9.0, "axes.grid": True})
    return ax
