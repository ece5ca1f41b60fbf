"""Small weight files for experiments with `load_weights`. Examples in your feedback use them."""

import tempfile
from pathlib import Path

import numpy as np


class WeightFile(type(Path())):
    """The path of a new weight file."""


def weight_file(
    vocabulary: int, width: int, heads: int, kv_heads: int, hidden: int, layers: int
) -> WeightFile:
    """Write a file for a model of these sizes, with small cosines as weights; return its path."""
    part = kv_heads * width // heads
    shapes = {"norm.weight": [width], "embed.weight": [vocabulary, width]}
    for block in range(layers):
        sizes = {
            "norm2": [width],
            "norm1": [width],
            "ff.up": [hidden, width],
            "ff.gate": [hidden, width],
            "ff.down": [width, hidden],
            "attn.W_v": [part, width],
            "attn.W_k": [part, width],
            "attn.W_q": [width, width],
            "attn.W_o": [width, width],
        }
        shapes |= {f"blocks.{block}.{name}.weight": size for name, size in sizes.items()}
    arrays = {"n_heads": np.array(heads)}
    for number, (name, shape) in enumerate(shapes.items()):
        cosines = 0.3 * np.cos(np.arange(np.prod(shape)) + number)  # larger ones amplify rounding
        arrays[name] = cosines.reshape(shape).astype(np.float16)
    path = WeightFile(tempfile.mkdtemp(), "weights.npz")
    np.savez(path, **arrays)
    return path
