"""Returns something other than the Axes.

Exercise: plot_attention
Believes: the figure is the picture.
Shows: the caller can't add a title or draw on the Axes that was used.
Hint: The docstring says what is returned. What would a caller need to add a title to just this
    picture?
Rejected by: test_values
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax.figure
