"""Applies a second softmax to the weights before drawing them.

Exercise: plot_attention
Believes: what comes in are scores.
Shows: all colours are paler and even zeros get a share.
Hint: The weights of each row already sum to 1. What happens to a zero in another softmax?
Rejected by: test_values
Costs: 35 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = torch.softmax(weights.detach().to("cpu", torch.float32), dim=-1).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
