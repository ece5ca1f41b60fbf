"""Rounds the weights to two digits before drawing them.

Exercise: plot_attention
Believes: a picture needs no more than two digits.
Shows: small weights vanish.
Hint: The values should be drawn unchanged: colours can show more than two digits.
Rejected by: test_values
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy().round(2)
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
