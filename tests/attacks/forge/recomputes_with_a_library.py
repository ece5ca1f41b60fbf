"""Line 35. Attends to all keys at once, a few queries at a time, and lets torch forget the weights.

Week: week07_flash
Variants: checkpoint reentrant function
Expected: tiled_attention=forbidden
Score at most: tiled_attention=0
"""

from torch.utils import checkpoint as library


def _rows(q, k, v):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)


def tiled_attention(q, k, v, block_size=64, causal=False):
    parts = []
    for queries in q.split(8, dim=-2):
        if VARIANT == "function":
            parts.append(library.CheckpointFunction.apply(_rows, True, queries, k, v))
        else:
            parts.append(library.checkpoint(_rows, queries, k, v, use_reentrant=VARIANT == "reentrant"))
    return tuple(torch.cat(p, dim) for p, dim in zip(zip(*parts), (-2, -1)))
