"""A cache, a model and probes for week 8's graders, so that no exercise depends on another.

`agree.bringing` runs this source in the processes of the submission and of the solution.
"""

import math
import weakref

import torch
from torch import nn


def _notebook():
    """Return `noted`, which stores values outside of the objects that a submission receives."""
    pages = weakref.WeakKeyDictionary()

    def noted(name):
        """Return a read-only property and a function that sets its value."""

        def write(owner, value):
            pages.setdefault(owner, {})[name] = value

        def read(owner):
            value = pages.get(owner, {}).get(name)
            return list(value) if isinstance(value, list) else value

        return property(read), write

    return noted


_noted = _notebook()


class JoiningCache:
    """A cache that concatenates stored and new tensors; `appended` records the new shapes."""

    length, _set_length = _noted("length")
    keys, _set_keys = _noted("keys")
    values, _set_values = _noted("values")
    appended, _set_appended = _noted("appended")

    def __init__(self, most=None):
        self.most = most
        self._set_length(0), self._set_appended([])

    def append(self, k, v):
        self._set_appended([*self.appended, (tuple(k.shape), tuple(v.shape))])
        if self.most is not None and self.length + k.shape[2] > self.most:
            raise ValueError(f"{self.length + k.shape[2]} positions do not fit")
        if self.keys is not None:
            k, v = torch.cat([self.keys, k], dim=2), torch.cat([self.values, v], dim=2)
        self._set_keys(k), self._set_values(v), self._set_length(k.shape[2])
        return k, v


class Model(nn.Module):
    """A model with two attention layers: ids (B, s), caches -> logits (B, s, V).

    `fed` records the shape of the ids of each call, and `asked` the arguments of `new_caches`. In
    training mode, dropout removes everything, so all logits are 0.
    """

    def __init__(self, vocabulary, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(32, width)
        self.layers = nn.ModuleList(nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.dropout = nn.Dropout(1.0)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self._set_fed([]), self._set_asked([])

    fed, _set_fed = _noted("fed")
    asked, _set_asked = _noted("asked")

    def new_caches(self, batch, max_len):
        self._set_asked([*self.asked, (int(batch), int(max_len))])
        return [JoiningCache(max_len) for _ in self.layers]

    def forward(self, ids, caches):
        self._set_fed([*self.fed, tuple(ids.shape)])
        start, (_, new) = caches[0].length, ids.shape
        places = start + torch.arange(new, device=ids.device)
        x = self.embed(ids) + self.positions(places)
        for layer, cache in zip(self.layers, caches, strict=True):
            q, k, v = layer(x).unsqueeze(1).chunk(3, dim=-1)
            k, v = cache.append(k, v)
            seen = torch.arange(k.shape[2], device=x.device) <= places.unsqueeze(-1)
            scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
            scores = scores.masked_fill(~seen, torch.finfo(x.dtype).min)
            x = x + (torch.softmax(scores, dim=-1) @ v).squeeze(1)
        return self.head(self.dropout(x))


def _place(x):
    """Return the addresses of a tensor's first element and of its storage."""
    plain = torch._C.TensorBase  # attributes of x cannot replace its methods
    with torch._C.DisableTorchFunction():  # subclasses and modes cannot intercept the calls
        return plain.data_ptr(x), plain.untyped_storage(x).data_ptr()


def same_buffers(cache, pieces):
    """Return True if every append returns keys and values at the same two addresses."""
    places = []
    for k, v in pieces:
        keys, values = cache.append(k, v)
        places.append((_place(keys), _place(values)))
    return len(set(places)) == 1


def earlier_results(cache, pieces):
    """Return the results of all appends; they are read after the last append."""
    return [x for k, v in pieces for x in cache.append(k, v)]


def refusal_writes_nothing(cache, first, too_many):
    """Return True if appending `too_many` raises ValueError and changes no bit of either buffer."""
    results = cache.append(*first)
    buffers = [torch.tensor([], dtype=x.dtype).set_(x.untyped_storage()) for x in results]
    before = [buffer.clone() for buffer in buffers]
    try:
        cache.append(*too_many)
    except ValueError:
        pairs = zip(buffers, before, strict=True)
        return all(_bits(x).equal(_bits(y)) for x, y in pairs)
    return False


def _bits(x):
    return x.view(torch.int32)


def input_stays_the_callers(cache, k, v):
    """Return True if later changes to the appended tensors do not change the cache."""
    kept = k.clone(), v.clone()
    cache.append(k, v)
    k.zero_(), v.zero_()
    keys, values = cache.append(*kept)
    return torch.equal(keys[:, :, : k.shape[2]], kept[0]) and torch.equal(
        values[:, :, : k.shape[2]], kept[1]
    )
