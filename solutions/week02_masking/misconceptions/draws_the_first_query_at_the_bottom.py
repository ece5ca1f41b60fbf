"""Draws the first query at the bottom.

Exercise: plot_attention
Believes: the vertical axis grows upwards, as in a graph.
Shows: the picture is upside down.
Hint: Read the picture as you read the matrix. Which setting of imshow says where its first row
    goes?
Rejected by: test_values
Costs: 25 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0, origin="lower")
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
