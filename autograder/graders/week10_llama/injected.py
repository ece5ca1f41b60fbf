"""A cache and probes for week 10's graders, so that no exercise depends on the stub's cache.

`agree.bringing` runs this source in the processes of the submission and of the solution.
"""

import tempfile
from pathlib import Path

import numpy as np
import torch


class JoiningCache:
    """A cache that concatenates stored and new tensors; `appended` records the new shapes."""

    def __init__(self, most=None):
        self.most, self.length, self.appended = most, 0, []
        self.keys = self.values = None

    def append(self, k, v):
        self.appended.append((tuple(k.shape), tuple(v.shape)))
        if self.most is not None and self.length + k.shape[2] > self.most:
            raise ValueError(f"{self.length + k.shape[2]} positions do not fit")
        if self.keys is not None:
            k, v = torch.cat([self.keys, k], dim=2), torch.cat([self.values, v], dim=2)
        self.keys, self.values, self.length = k, v, k.shape[2]
        return k, v


def joined_logits(model, ids, sizes):
    """Feed ids in chunks with a `JoiningCache` per block; return the logits, concatenated."""
    caches = [JoiningCache() for _ in model.blocks]
    return torch.cat([model(piece, caches) for piece in ids.split(sizes, dim=1)], dim=1)


def cached_logits(model, ids, sizes):
    """Feed ids in chunks with the model's own caches; return the logits, concatenated."""
    caches = model.new_caches(ids.shape[0], ids.shape[1])
    return torch.cat([model(piece, caches) for piece in ids.split(sizes, dim=1)], dim=1)


def described_caches(model, batch, max_len, width):
    """Return lengths, shape, separate buffers, dtype and device, and refusals of new caches."""
    caches = model.new_caches(batch, max_len)
    kv_heads, d = width
    weight = next(iter(model.parameters()))
    new = torch.ones(batch, kv_heads, max_len, d, dtype=weight.dtype, device=weight.device)
    lengths = [cache.length for cache in caches]
    kept = [cache.append(new, new) for cache in caches]
    places = {x.data_ptr() for both in kept for x in both}
    same_type = all(x.dtype == weight.dtype and x.device == weight.device for x in kept[0])
    refusals = 0
    for cache in caches:
        try:
            cache.append(new[:, :, :1], new[:, :, :1])
        except ValueError:
            refusals += 1
    return lengths, tuple(kept[-1][0].shape), len(places) == 2 * len(caches), same_type, refusals


def with_frequencies(model, frequencies, ids):
    """Return the logits after the frequencies have been replaced."""
    model.frequencies = frequencies
    return model(ids)


def own_frequencies(model):
    """Return the model's frequencies as a plain tensor."""
    return model.frequencies.detach().clone()


def loaded(arrays, as_text=False):
    """Write the arrays to a file and return the model that is loaded from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.npz"
        np.savez(path, **arrays)
        name = str(path) if as_text else path
        return submission.load_weights(name)  # noqa: F821 -- defined by `agree.bringing`


def loaded_state(arrays):
    """Return the loaded state dict, with the dtypes and flags of the parameters."""
    model = loaded(arrays)
    trainable = all(p.requires_grad for p in model.parameters())
    return {name: value.detach().clone() for name, value in model.state_dict().items()}, trainable


def drawn_ids(logits, p, temperature, seed, times):
    """Draw a number of times with one generator; return ids (times, B)."""
    generator = torch.Generator(device=logits.device).manual_seed(seed)
    options = {} if temperature is None else {"temperature": temperature}
    draw = submission.sample_top_p  # noqa: F821 -- defined by `agree.bringing`
    return torch.stack([draw(logits, p, generator=generator, **options) for _ in range(times)])
