"""Leaves the labels off an Axes that it draws on.

Exercise: plot_attention
Believes: plt.xlabel labels the picture that was just drawn.
Shows: right while nothing else was drawn; with another Axes current, that one gets the labels.
Hint: Make two subplots, draw on the first, and look at both. Which of them has the labels, if any?
Rejected by: test_leaves_matplotlib_as_it_was
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    plt.xlabel("Key")
    plt.ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
