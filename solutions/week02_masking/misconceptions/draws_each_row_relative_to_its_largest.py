"""Divides each row by its largest weight before drawing it.

Exercise: plot_attention
Believes: each row should reach the darkest colour.
Shows: every row has a cell of value 1.
Hint: The values should be drawn unchanged. What would a reader conclude from your picture about
    a query that attends evenly?
Rejected by: test_values
Costs: 30 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = (weights / weights.amax(-1, keepdim=True)).detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
