"""Rotations as complex products, einsum for attention, and an own softmax for the nucleus."""

import zipfile

import torch
from torch import nn


def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    half, odd = divmod(d, 2)
    if odd or factor < 1 or method not in {"linear", "ntk", "yarn"}:
        raise ValueError(f"cannot use d={d}, factor={factor}, method={method}")
    exponents = -2 * torch.arange(half).double() / d
    plain = torch.exp(exponents * torch.tensor(float(base), dtype=torch.float64).log())
    if method == "linear":
        return (plain / factor).to(torch.float32)
    if method == "ntk":
        return rotary_frequencies(d, base * factor ** (d / (d - 2)))
    if length is None:
        raise ValueError("method yarn: which length?")
    wavelength = 2 * torch.pi / plain
    ramp = torch.clip((length / wavelength - 1) / 31, min=0, max=1)
    return torch.lerp(plain / factor, plain, ramp).to(torch.float32)


def apply_rotary(x, frequencies, offset=0):
    precise = torch.float64 if x.dtype == torch.float64 else torch.float32
    start = torch.as_tensor(offset, device=x.device).reshape(-1, 1, 1)
    place = start + torch.arange(x.size(2), device=x.device)  # (B or 1, 1, s)
    angle = torch.einsum("bhs,i->bhsi", place.to(precise), frequencies.to(precise))
    turned = torch.view_as_complex(x.to(precise).unflatten(-1, (-1, 2)).contiguous())
    turned = turned * torch.complex(angle.cos(), angle.sin())
    return torch.view_as_real(turned).flatten(3).type_as(x)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, x):
        y = x if x.dtype == torch.float64 else x.to(torch.float32)
        power = torch.einsum("...i,...i->...", y, y)[..., None] / y.size(-1)
        return (y / torch.sqrt(power + self.eps) * self.weight.to(y.dtype)).type_as(x)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate, self.up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate = self.gate(x)
        return self.down(gate * torch.sigmoid(gate) * self.up(x))


class LlamaAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        d, rest = divmod(d_model, n_heads)
        if rest or d % 2 or n_heads % n_kv_heads:
            raise ValueError(f"sizes do not fit: {d_model}, {n_heads}, {n_kv_heads}")
        self.groups = n_kv_heads
        self.sizes = (d, n_heads // n_kv_heads)
        for name, out in (("q", d_model), ("k", n_kv_heads * d), ("v", n_kv_heads * d)):
            self.add_module(f"W_{name}", nn.Linear(d_model, out, bias=False))
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, frequencies, cache=None):
        d, members = self.sizes
        past = 0 if cache is None else cache.length
        q, k, v = (
            w(x).unflatten(-1, (-1, d)).movedim(1, 2) for w in (self.W_q, self.W_k, self.W_v)
        )
        k = apply_rotary(k, frequencies, past)
        if cache is not None:
            k, v = cache.append(k, v)
        q = apply_rotary(q, frequencies, past).unflatten(1, (self.groups, members)) / d**0.5
        scores = torch.einsum("bgrnd,bgmd->bgrnm", q, k)
        total = past + x.size(1)
        seen = torch.ones(total, total, dtype=torch.bool, device=x.device).tril()[past:]
        scores = torch.where(seen, scores, float("-inf"))
        y = torch.einsum("bgrnm,bgmd->bngrd", scores.softmax(-1), v)
        return self.W_o(y.flatten(2))


class LlamaBlock(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.attn = LlamaAttention(d_model, n_heads, n_kv_heads)
        self.ff = SwiGLU(d_model, d_ff)

    def forward(self, x, frequencies, cache=None):
        for norm, layer in (
            (self.norm1, lambda y: self.attn(y, frequencies, cache)),
            (self.norm2, self.ff),
        ):
            x = torch.add(x, layer(norm(x)))
        return x


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__()
        self.config = n_kv_heads, d_model // n_heads, n_layers
        self.embed = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(LlamaBlock(d_model, n_heads, n_kv_heads, d_ff))
        self.norm = RMSNorm(d_model)
        self.frequencies = rotary_frequencies(d_model // n_heads, base=base)

    def new_caches(self, batch, max_len):
        kv_heads, d, layers = self.config
        like = {"dtype": self.norm.weight.dtype, "device": self.norm.weight.device}
        return [KVCache(batch, kv_heads, max_len, d, **like) for _ in range(layers)]

    def forward(self, ids, caches=None):
        x = self.embed(ids)
        caches = caches or [None] * len(self.blocks)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, self.frequencies.to(x.device), cache)
        return torch.einsum("bsc,vc->bsv", self.norm(x), self.embed.weight)


def load_weights(path):
    with zipfile.ZipFile(path) as archive:
        read = {}
        for member in archive.namelist():
            with archive.open(member) as file:
                read[member.removesuffix(".npy")] = np.lib.format.read_array(file)
    state = {k: torch.tensor(a, dtype=torch.float32) for k, a in read.items() if "weight" in k}
    heads = read["n_heads"].item()
    (v, c), (kv, _) = state["embed.weight"].shape, state["blocks.0.attn.W_k.weight"].shape
    layers = len({name.split(".")[1] for name in state if name.startswith("blocks.")})
    hidden = state["blocks.0.ff.down.weight"].shape[1]
    model = Llama(v, c, heads, heads * kv // c, hidden, layers)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(state.pop(name))
    assert not state
    return model


def sample_top_p(logits, p, temperature=1.0, generator=None):
    if p <= 0 or p > 1:
        raise ValueError(f"p={p}")
    weights = (logits / temperature).softmax(1)
    ranked = weights.argsort(1, descending=True)
    total = weights.gather(1, ranked).cumsum(1)
    enough = torch.searchsorted(total, torch.full_like(total[:, :1], p))  # first place at p
    rank = ranked.argsort(1)
    return torch.multinomial(weights.masked_fill(rank > enough, 0), 1, generator=generator)[:, 0]
