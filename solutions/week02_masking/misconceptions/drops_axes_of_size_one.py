"""Drops axes of size 1, so that a single query or key is no longer a matrix.

Exercise: plot_attention
Believes: axes of size 1 are left over from a batch.
Shows: an error for a single row or column.
Hint: How many axes does a matrix with one row have? Which of your calls removes one?
Rejected by: test_single_row_or_column
Costs: 15 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.squeeze().detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
