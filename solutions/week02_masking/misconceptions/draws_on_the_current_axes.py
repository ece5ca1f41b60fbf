"""Draws on the current Axes if none is given, so that pictures overlap.

Exercise: plot_attention
Believes: the current Axes is a new one.
Shows: the first picture is right; the second lands on top of it.
Hint: Call your function twice without `ax` and count the images on the Axes. Who made that Axes
    the first time?
Rejected by: test_values
Costs: 25 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        ax = plt.gca()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
