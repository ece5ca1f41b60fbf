"""Loops over pairs, rows, heads and layers; lists instead of reshapes."""

import math

import torch
from torch import nn


def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    if d % 2 == 1:
        raise ValueError(f"an odd head of {d} features")
    if not factor >= 1:
        raise ValueError(f"a factor of {factor}")
    result = []
    for i in range(d // 2):
        theta = base ** (-2 * i / d)
        if method == "linear":
            theta /= factor
        elif method == "ntk":
            theta = (base * factor ** (d / (d - 2))) ** (-2 * i / d)
        elif method == "yarn":
            if length is None:
                raise ValueError("no length")
            r = length * theta / (2 * math.pi)
            if r < 1:
                gamma = 0.0
            elif r > 32:
                gamma = 1.0
            else:
                gamma = (r - 1) / 31
            theta = (1 - gamma) * theta / factor + gamma * theta
        else:
            raise ValueError(f"no method {method}")
        result.append(theta)
    return torch.tensor(result, dtype=torch.float32)


def apply_rotary(x, frequencies, offset=0):
    if torch.is_tensor(offset):
        one_by_one = [
            apply_rotary(x[b : b + 1], frequencies, o) for b, o in enumerate(offset.tolist())
        ]
        return torch.cat(one_by_one)
    rows = []
    wide = x.double() if x.dtype == torch.float64 else x.float()
    for row in range(x.shape[2]):
        features = []
        for i, frequency in enumerate(frequencies):
            angle = (row + offset) * frequency
            a, b = wide[:, :, row, 2 * i], wide[:, :, row, 2 * i + 1]
            features.append(a * torch.cos(angle) - b * torch.sin(angle))
            features.append(a * torch.sin(angle) + b * torch.cos(angle))
        rows.append(torch.stack(features, dim=-1))
    return torch.stack(rows, dim=2).to(x.dtype)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.ones([d_model])))
        self.eps = float(eps)

    def forward(self, x):
        y = x.double() if x.dtype == torch.float64 else x.float()
        total = 0
        for feature in y.unbind(-1):
            total = total + feature * feature
        root = torch.sqrt(total / len(self.weight) + self.eps)
        return (y / root.unsqueeze(-1)).to(x.dtype) * self.weight


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        widths = {"gate": (d_model, d_ff), "up": (d_model, d_ff), "down": (d_ff, d_model)}
        for name, (before, after) in widths.items():
            setattr(self, name, nn.Linear(before, after, bias=False))

    def forward(self, x):
        activation = nn.SiLU()
        hidden = activation(self.gate(x)).mul(self.up(x))
        return self.down(hidden)


class LlamaAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} features for {n_heads} heads")
        if n_heads % n_kv_heads != 0:
            raise ValueError(f"{n_heads} heads in {n_kv_heads} groups")
        self.size = d_model // n_heads
        if self.size % 2 != 0:
            raise ValueError(f"{d_model} features give odd heads")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.W_q = nn.Linear(d_model, n_heads * self.size, bias=False)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.size, bias=False)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.size, bias=False)
        self.W_o = nn.Linear(n_heads * self.size, d_model, bias=False)

    def forward(self, x, frequencies, cache=None):
        past = cache.length if cache is not None else 0
        q = torch.stack(self.W_q(x).split(self.size, dim=-1), dim=1)
        k = torch.stack(self.W_k(x).split(self.size, dim=-1), dim=1)
        v = torch.stack(self.W_v(x).split(self.size, dim=-1), dim=1)
        q, k = apply_rotary(q, frequencies, past), apply_rotary(k, frequencies, past)
        if cache is not None:
            k, v = cache.append(k, v)
        future = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device)
        future = future.triu(past + 1)
        outputs = []
        for head in range(self.n_heads):
            shared = head * self.n_kv_heads // self.n_heads
            scores = q[:, head] @ k[:, shared].mT / math.sqrt(self.size)
            weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
            outputs.append(weights @ v[:, shared])
        return self.W_o(torch.cat(outputs, dim=-1))


class LlamaBlock(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attn = LlamaAttention(d_model, n_heads, n_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ff = SwiGLU(d_model, d_ff)

    def forward(self, x, frequencies, cache=None):
        found = self.attn(self.norm1(x), frequencies, cache)
        after = found + x
        thought = self.ff(self.norm2(after))
        return thought + after


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        blocks = [LlamaBlock(d_model, n_heads, n_kv_heads, d_ff) for _ in range(n_layers)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = RMSNorm(d_model)
        self.head_size, self.kv_heads = d_model // n_heads, n_kv_heads
        self.frequencies = rotary_frequencies(self.head_size, base)

    def new_caches(self, batch, max_len):
        made = []
        for _ in range(len(self.blocks)):
            cache = KVCache(
                batch,
                self.kv_heads,
                max_len,
                self.head_size,
                self.embed.weight.dtype,
                self.embed.weight.device,
            )
            made.append(cache)
        return made

    def forward(self, ids, caches=None):
        x = self.embed.weight[ids]
        number = 0
        while number < len(self.blocks):
            cache = caches[number] if caches is not None else None
            x = self.blocks[number](x, self.frequencies.to(ids.device), cache)
            number += 1
        return nn.functional.linear(self.norm(x), self.embed.weight)


def load_weights(path):
    file = np.load(path)
    names = [name for name in file if name not in ("n_heads", "merges") and "." in name]
    layers = 0
    while f"blocks.{layers}.norm1.weight" in names:
        layers += 1
    vocab_size, d_model = file["embed.weight"].shape
    heads = int(file["n_heads"])
    size = d_model // heads
    kv_heads = len(file["blocks.0.attn.W_v.weight"]) // size
    model = Llama(vocab_size, d_model, heads, kv_heads, len(file["blocks.0.ff.up.weight"]), layers)
    state = model.state_dict()
    for name in names:
        state[name].copy_(torch.from_numpy(file[name].astype(np.float32)))
    file.close()
    return model


def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not (p > 0 and p <= 1):
        raise ValueError(f"p must be in (0, 1], not {p}")
    kept = torch.zeros_like(logits)
    for row, values in enumerate((logits / temperature).softmax(dim=-1)):
        total = 0.0
        for token in values.argsort(descending=True).tolist():
            if total >= p:
                break
            kept[row, token] = values[token]
            total += float(values[token])
    return torch.multinomial(kept, 1, generator=generator).flatten()
