"""Lets each picture choose its own colour range.

Exercise: plot_attention
Believes: matplotlib chooses a good range.
Shows: even weights look as strong as sharp ones; two pictures can't be compared.
Hint: Plot a matrix of nearly equal weights. Does the picture show that they are nearly equal?
Rejected by: test_colours_span_zero_to_one
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys")
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
