"""Shows the picture in a window.

Exercise: plot_heads
Believes: a picture has to be shown.
Shows: the caller has to close a window before the program goes on; a notebook shows the picture
    twice.
Hint: Who decides when a picture is shown? Return it, and leave that to the caller.
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""


_drawn = plot_heads


def plot_heads(weights, tokens=None):
    figure = _drawn(weights, tokens)
    plt.show()
    return figure
