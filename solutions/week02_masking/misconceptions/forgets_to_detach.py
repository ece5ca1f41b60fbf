"""Hands NumPy weights that still belong to a graph of gradients, which it refuses.

Exercise: plot_attention
Believes: a tensor is an array.
Shows: an error for weights straight out of a model.
Hint: The error message names the method that is missing. Why does NumPy have no place for a
    gradient?
Rejected by: test_weights_that_need_gradients
Costs: 15 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
