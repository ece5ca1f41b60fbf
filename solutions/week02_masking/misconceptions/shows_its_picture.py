"""Shows the picture in a window.

Exercise: plot_attention
Believes: a picture has to be shown.
Shows: the caller has to close a window before the program goes on; a notebook shows the picture
    twice.
Hint: Who decides when a picture is shown? Return it, and leave that to the caller.
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""


_drawn = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    ax = _drawn(weights, query_tokens, key_tokens, ax)
    plt.show()
    return ax
