"""Layers with plain parameters, rotations built by adding angles, masks as biases, one file read."""

from functools import partial

import torch
from torch import nn

torch_rsqrt = torch.rsqrt


class Projection(nn.Module):
    """A bias-free linear layer."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        nn.init.normal_(self.weight, std=inputs**-0.5)

    def forward(self, x):
        return torch.matmul(x, self.weight.transpose(0, 1))


def _check(condition, message):
    if not condition:
        raise ValueError(message)


def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    _check(d % 2 == 0, f"d={d}")
    _check(factor >= 1, f"factor={factor}")
    pair = torch.arange(d // 2, dtype=torch.float64)
    theta = base ** (-2.0 * pair / d)

    def linear():
        return theta / factor

    def ntk():
        return theta * factor ** (-2.0 * pair / (d - 2))

    def yarn():
        _check(length is not None, "yarn: length=None")
        r = theta * length / (2 * torch.pi)
        low, high = theta / factor, theta
        middle = low + (high - low) * (r - 1) / 31
        return torch.where(r <= 1, low, torch.where(r >= 32, high, middle))

    methods = {f.__name__: f for f in (linear, ntk, yarn)}
    _check(method in methods, f"method={method}")
    return methods[method]().type(torch.float32)


def apply_rotary(x, frequencies, offset=0):
    B, H, s, d = x.shape
    kind = torch.float64 if x.dtype is torch.float64 else torch.float32
    if isinstance(offset, int):
        offset = torch.full((1,), offset, device=x.device)
    f = frequencies.to(kind)
    first = offset.to(kind).reshape(-1, 1, 1, 1) * f
    step = torch.arange(s, device=x.device, dtype=kind).reshape(-1, 1) * f
    # cos(a + b) and sin(a + b) from those of the first position and of the row
    cos = first.cos() * step.cos() - first.sin() * step.sin()
    sin = first.sin() * step.cos() + first.cos() * step.sin()
    pairs = x.to(kind).reshape(B, H, s, d // 2, 2)
    a, b = pairs.unbind(-1)
    turned = torch.cat([(a * cos - b * sin).unsqueeze(-1), (b * cos + a * sin).unsqueeze(-1)], -1)
    return turned.reshape(B, H, s, d).to(x.dtype)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x):
        if x.dtype in (torch.float16, torch.bfloat16):
            return self._normalised(x.float()).to(x.dtype)
        return self._normalised(x)

    def _normalised(self, x):
        mean_square = (x * x).sum(-1, keepdim=True) / x.shape[-1]
        return x * torch_rsqrt(mean_square + self.eps) * self.weight.to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = Projection(d_model, d_ff), Projection(d_model, d_ff)
        self.down = Projection(d_ff, d_model)

    def forward(self, x):
        z = self.gate(x)
        return (
            self.down(z / (1 + torch.exp(-z)) * self.up(x))
            if z.dtype == torch.float64
            else (self.down(z * z.sigmoid() * self.up(x)))
        )


class LlamaAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        _check(d_model % n_heads == 0, f"d_model={d_model}, n_heads={n_heads}")
        _check(n_heads % n_kv_heads == 0, f"n_heads={n_heads}, n_kv_heads={n_kv_heads}")
        _check(d_model // n_heads % 2 == 0, f"d_model={d_model}, n_heads={n_heads}")
        self.H, self.G, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = Projection(d_model, d_model)
        self.W_k = Projection(d_model, self.G * self.d)
        self.W_v = Projection(d_model, self.G * self.d)
        self.W_o = Projection(d_model, d_model)

    def _heads(self, y, count):
        return y.reshape(y.shape[0], y.shape[1], count, self.d).permute(0, 2, 1, 3)

    def forward(self, x, frequencies, cache=None):
        B, s, C = x.shape
        past = cache.length if cache is not None else 0
        rotate = partial(apply_rotary, frequencies=frequencies, offset=past)
        k, v = rotate(self._heads(self.W_k(x), self.G)), self._heads(self.W_v(x), self.G)
        k, v = (k, v) if cache is None else cache.append(k, v)
        q = rotate(self._heads(self.W_q(x), self.H))
        m = k.shape[2]
        rows = q.reshape(B, self.G, self.H // self.G * s, self.d)
        scores = torch.matmul(rows, k.transpose(2, 3)).reshape(B, self.H, s, m) * self.d**-0.5
        later = (
            torch.arange(m, device=x.device)[None]
            > torch.arange(past, past + s, device=x.device)[:, None]
        )
        bias = torch.zeros(s, m, dtype=x.dtype, device=x.device).masked_fill(later, float("-inf"))
        weights = (scores + bias).softmax(3).reshape(B, self.G, -1, m)
        y = torch.matmul(weights, v).reshape(B, self.H, s, self.d)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(B, s, C))


class LlamaBlock(nn.ModuleDict):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__(
            {
                "norm1": RMSNorm(d_model),
                "attn": LlamaAttention(d_model, n_heads, n_kv_heads),
                "norm2": RMSNorm(d_model),
                "ff": SwiGLU(d_model, d_ff),
            }
        )

    def forward(self, x, frequencies, cache=None):
        h = self["attn"](self["norm1"](x), frequencies, cache) + x
        return self["ff"](self["norm2"](h)) + h


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__()
        self.G, self.d = n_kv_heads, d_model // n_heads
        self.embed = nn.Embedding(vocab_size, d_model)
        make = partial(LlamaBlock, d_model, n_heads, n_kv_heads, d_ff)
        self.blocks = nn.ModuleList(make() for _ in range(n_layers))
        self.norm = RMSNorm(d_model)
        self.frequencies = rotary_frequencies(self.d, base)

    def new_caches(self, batch, max_len):
        w = self.embed.weight
        return [KVCache(batch, self.G, max_len, self.d, w.dtype, w.device) for _ in self.blocks]

    def forward(self, ids, caches=None):
        h = self.embed(ids)
        for i, block in enumerate(self.blocks):
            h = block(h, self.frequencies.to(h.device), cache=caches[i] if caches else None)
        return self.norm(h) @ self.embed.weight.mT


def load_weights(path):
    tensors, heads = {}, None
    with np.load(str(path)) as file:
        for name in file.files:
            if name == "n_heads":
                heads = int(file[name])
            elif name.endswith("weight"):
                tensors[name] = torch.tensor(file[name].astype(np.float32))
    rows = {name: tuple(t.shape) for name, t in tensors.items()}
    vocabulary, width = rows["embed.weight"]
    layer = "blocks.{}.attn.W_k.weight"
    count = next(i for i in range(len(rows)) if layer.format(i) not in rows)
    groups = rows[layer.format(0)][0] * heads // width
    hidden = rows["blocks.0.ff.up.weight"][0]
    model = Llama(vocabulary, width, heads, groups, hidden, count)
    model.load_state_dict(tensors)
    return model


def sample_top_p(logits, p, temperature=1.0, generator=None):
    _check(0 < p <= 1, f"p={p}")
    probabilities = (logits / temperature).softmax(-1)
    values, ids = probabilities.sort(-1, True)
    late = torch.zeros_like(values, dtype=torch.bool)
    late[:, 1:] = values.cumsum(-1)[:, :-1] >= p
    dropped = torch.empty_like(late).scatter_(1, ids, late)
    chosen = torch.multinomial(probabilities.masked_fill(dropped, 0.0), 1, generator=generator)
    return chosen[:, 0]
