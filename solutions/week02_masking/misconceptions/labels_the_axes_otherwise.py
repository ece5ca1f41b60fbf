"""Gives the axes labels that differ from those in the docstring.

Exercise: plot_attention
Believes: any sensible label will do.
Shows: the labels differ from those asked for.
Hint: Others look for exactly the two labels that the docstring names. Which ones does your picture
have?
Rejected by: test_axis_labels
Costs: 15 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key position")
    ax.set_ylabel("Query position")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
