"""Writes "Query" along the keys and "Key" along the queries.

Exercise: plot_attention
Believes: x is the first axis of the matrix.
Shows: the picture is right, its labels are swapped.
Hint: Each row of weights belongs to one query. Along which axis of the picture do you walk from
    query to query?
Rejected by: test_axis_labels
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Query")
    ax.set_ylabel("Key")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
