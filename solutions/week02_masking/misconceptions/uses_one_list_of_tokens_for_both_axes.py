"""Writes the query tokens along the keys as well where no key tokens are given.

Exercise: plot_attention
Believes: queries and keys are the same tokens.
Shows: labels on an axis for which none were given.
Hint: In cross-attention queries and keys come from different sentences. What should an axis show
    for which no tokens were given?
Rejected by: test_tokens_of_one_axis
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    key_tokens = query_tokens if key_tokens is None else key_tokens
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
