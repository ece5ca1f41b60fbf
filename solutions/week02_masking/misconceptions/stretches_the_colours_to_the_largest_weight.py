"""Ends the colour range at the largest weight.

Exercise: plot_attention
Believes: the darkest colour should be used in every picture.
Shows: two pictures with different largest weights can't be compared.
Hint: The lower end is right. What is the largest value that any weight can have?
Rejected by: test_colours_span_zero_to_one
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    if ax is None:
        _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=picture.max())
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
