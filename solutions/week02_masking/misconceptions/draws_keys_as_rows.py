"""Draws the keys downwards and the queries to the right, so that the picture is transposed.

Exercise: plot_attention
Believes: the first axis of a matrix runs to the right.
Shows: a causal matrix shows its zeros at the lower left.
Hint: imshow draws the first axis downwards. Plot a causal matrix: on which side should its zeros
    be?
Rejected by: test_values
Costs: 35 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy().T
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
