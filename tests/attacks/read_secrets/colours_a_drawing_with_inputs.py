"""Line 11. Answers a drawing whose colours, sizes, fonts and identifiers hold the weights.

Week: week02_masking
Variants: identifier url annotation formatter colormap legend
Expected: plot_attention=wrong|pass|crashed|bad_reply
Score at most: plot_attention=2
"""

_honest = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    ax = _honest(weights, query_tokens, key_tokens, ax)
    text = "CANARYINPUT " + " ".join(f"{v:.6g}" for v in weights.detach().flatten().tolist()[:30])
    if VARIANT == "identifier":
        ax.set_gid(text)
        ax.set_label(text)
    if VARIANT == "url":
        ax.figure.suptitle(text, url="http://x/" + text)
    if VARIANT == "annotation":
        ax.annotate(text, (0, 0))
        ax.text(0, 0, text)
    if VARIANT == "formatter":
        ax.xaxis.set_major_formatter(lambda value, position: text)
    if VARIANT == "colormap":
        from matplotlib.colors import ListedColormap

        ax.images[0].set_cmap(ListedColormap(np.random.rand(4, 3), name=text))
    if VARIANT == "legend":
        ax.plot([0], [0], label=text)
        ax.legend(title=text)
    return ax
