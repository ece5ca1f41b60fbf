"""Always draws on a new figure, also where `ax` is given.

Exercise: plot_attention
Believes: every picture needs a new figure.
Shows: the given Axes stays empty and another one is returned.
Hint: Two pictures side by side need two Axes of one figure. When should your function make a new
    one?
Rejected by: test_draws_on_the_given_axes
Costs: 20 %
"""


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    _, ax = plt.subplots()
    picture = weights.detach().to("cpu", torch.float32).numpy()
    ax.imshow(picture, cmap="Greys", vmin=0.0, vmax=1.0)
    ax.set_xlabel("Key")
    ax.set_ylabel("Query")
    if key_tokens is not None:
        ax.set_xticks(range(len(key_tokens)), labels=key_tokens)
    if query_tokens is not None:
        ax.set_yticks(range(len(query_tokens)), labels=query_tokens)
    return ax
