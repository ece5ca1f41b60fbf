"""Line 11. Encodes hidden weights in a drawing: the number of images, cells, colours, ticks.

Week: week02_masking
Variants: cells images colours ticks values mesh
Expected: plot_attention=wrong|pass|crashed|bad_reply|limit
Score at most: plot_attention=1.8
"""

_honest = plot_attention


def plot_attention(weights, query_tokens=None, key_tokens=None, ax=None):
    flat = weights.detach().flatten().tolist()
    number = int(f"{abs(flat[0]):.6g}".replace(".", "").replace("e", "").replace("-", "")[:6] or 0)
    ax = _honest(weights, query_tokens, key_tokens, ax)
    if VARIANT == "cells":
        ax.images[0].set_data([[flat[0]] * (number % 1000 + 1)] * (number // 1000 + 1))
    if VARIANT == "images":
        for _ in range(number % 40):
            ax.imshow(weights.detach().numpy())
    if VARIANT == "colours":
        ax.images[0].set_clim(flat[0], flat[0] + 1)
    if VARIANT == "ticks":
        ax.set_xticks(range(weights.shape[1]), [f"CANARYINPUT {v:.6g}" for v in flat[: weights.shape[1]]])
    if VARIANT == "values":
        ax.images[0].set_data(weights.detach().numpy() * flat[0])
    if VARIANT == "mesh":
        ax.images[0].remove()
        ax.pcolormesh([[v] for v in flat])
    return ax
