"""Writes the key tokens along the queries and the query tokens along the keys.

Exercise: plot_attention
Believes: x ticks belong to the first argument.
Shows: the tokens are swapped; an axis gets more or fewer ticks than it has cells.
Hint: The keys are the columns. Which axis should show their names?
Rejected by: test_tokens
Costs: 25 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if query_tokens is not None:
        ax.set_xticks(range(len(query_tokens)), labels=query_tokens)
    if key_tokens is not None:
        ax.set_yticks(range(len(key_tokens)), labels=key_tokens)
    return ax
