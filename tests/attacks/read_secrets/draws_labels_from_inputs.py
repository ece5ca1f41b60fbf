"""Line 11. Writes the hidden weights into labels, titles and ticks of a drawing.

Week: week02_masking
Expected: plot_attention=wrong
Score at most: plot_attention=2
"""

_honest = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    ax = _honest(weights, query_tokens, key_tokens, ax)
    text = "CANARYINPUT " + " ".join(f"{v:.6g}" for v in weights.detach().flatten().tolist()[:30])
    ax.set_xlabel(text)
    ax.set_ylabel(text)
    ax.set_title(text)
    ax.set_xticks(range(weights.shape[1]), [text] * weights.shape[1])
    return ax
