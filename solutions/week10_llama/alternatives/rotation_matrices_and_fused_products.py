"""Rotation matrices per position, stacked weights in one product, thresholds instead of scatter."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def rotary_frequencies(d, base=10000.0, factor=1.0, method="linear", length=None):
    choices = ("linear", "ntk", "yarn")
    if method not in choices:
        raise ValueError(f"{method} is not in {choices}")
    if factor < 1 or d & 1:
        raise ValueError(f"factor {factor}, d {d}")
    if method == "yarn" and not length:
        raise ValueError(f"length {length}")
    if method == "ntk":
        base *= math.pow(factor, d / (d - 2))
    theta = 1.0 / torch.pow(float(base), torch.arange(0, d, 2, dtype=torch.float32) / d)
    if method == "ntk":
        return theta
    if method == "linear":
        return theta / factor
    share = ((theta * length / math.tau - 1.0) / 31.0).clamp(0.0, 1.0)
    return theta * (share + (1.0 - share) / factor)


def apply_rotary(x, frequencies, offset=0):
    rows = torch.arange(x.size(-2), device=x.device)
    if not isinstance(offset, int):
        rows = (rows + offset.view(-1, 1)).unsqueeze(1)
    else:
        rows = rows + offset
    kind = torch.promote_types(torch.float32, x.dtype)
    angles = rows.unsqueeze(-1).to(kind) * frequencies
    angles = angles.to(kind)
    cos, sin = torch.cos(angles), torch.sin(angles)
    matrix = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x.to(kind).reshape(*x.shape[:-1], x.size(-1) // 2, 2, 1)
    return (matrix * pairs.mT).sum(-1).flatten(-2).to(x.dtype)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model).fill_(1))
        self.eps = eps

    def extra_repr(self):
        return f"eps={self.eps}"

    def forward(self, x):
        high = torch.promote_types(torch.float32, x.dtype)
        y = x.to(high)
        mean = torch.linalg.vector_norm(y + 0, dim=-1, keepdim=True).square() / y.shape[-1]
        mean = y.pow(2).mean(-1, True) if torch.is_grad_enabled() else mean
        return torch.mul(y / (mean + self.eps) ** 0.5, self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, False)
        self.up = nn.Linear(d_model, d_ff, False)
        self.down = nn.Linear(d_ff, d_model, False)

    def forward(self, x):
        both = F.linear(x, torch.cat([self.gate.weight, self.up.weight]))
        gate, up = both.chunk(2, -1)
        return self.down(up * F.silu(gate))


class LlamaAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        if d_model % n_heads or d_model // n_heads % 2 or n_heads % n_kv_heads:
            raise ValueError(f"d_model={d_model}, n_heads={n_heads}, n_kv_heads={n_kv_heads}")
        kv = d_model // n_heads * n_kv_heads
        self.heads = n_heads, n_kv_heads
        self.W_q, self.W_o = nn.Linear(d_model, d_model, False), nn.Linear(d_model, d_model, False)
        self.W_k, self.W_v = nn.Linear(d_model, kv, False), nn.Linear(d_model, kv, False)

    def forward(self, x, frequencies, cache=None):
        batch, new, width = x.shape
        heads, kv_heads = self.heads
        all_weights = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        together = F.linear(x, all_weights).view(batch, new, heads + 2 * kv_heads, width // heads)
        q, k, v = together.transpose(1, 2).split([heads, kv_heads, kv_heads], 1)
        begin = 0
        if cache is not None:
            begin = int(cache.length)
        rotated = apply_rotary(torch.cat([q, k], 1), frequencies, begin)
        q, k = rotated[:, :heads], rotated[:, heads:]
        if cache is not None:
            k, v = cache.append(k, v)
        distance = torch.arange(begin, begin + new, device=x.device).view(-1, 1)
        distance = distance - torch.arange(begin + new, device=x.device)
        mixed = attend(q, k, v, torch.ge(distance, 0))
        return self.W_o(mixed.permute(0, 2, 1, 3).reshape(batch, new, width))


class LlamaBlock(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, d_ff):
        nn.Module.__init__(self)
        self.norm1 = RMSNorm(d_model)
        self.norm2 = RMSNorm(d_model)
        self.attn = LlamaAttention(d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)
        self.ff = SwiGLU(d_model, d_ff)

    def forward(self, x, frequencies, cache=None):
        middle = x + self.attn(self.norm1(x), frequencies, cache=cache)
        return middle + self.ff(self.norm2(middle))


class Llama(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_kv_heads, d_ff, n_layers, base=10000.0):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            [LlamaBlock(d_model, n_heads, n_kv_heads, d_ff) for _ in range(n_layers)]
        )
        self.norm = RMSNorm(d_model)
        self.frequencies = rotary_frequencies(d_model // n_heads, base)
        self.shape = {"n_kv_heads": n_kv_heads, "d": d_model // n_heads}

    @property
    def _where(self):
        return {"dtype": self.embed.weight.dtype, "device": self.embed.weight.device}

    def new_caches(self, batch, max_len):
        return [KVCache(batch, max_len=max_len, **self.shape, **self._where) for _ in self.blocks]

    def forward(self, ids, caches=None):
        x = F.embedding(ids, self.embed.weight)
        frequencies = self.frequencies.to(device=x.device, dtype=torch.float32)
        per_block = iter(caches) if caches is not None else None
        for block in self.blocks:
            x = block(x, frequencies, next(per_block) if per_block is not None else None)
        return self.norm(x).matmul(self.embed.weight.t())


def load_weights(path):
    with open(path, "rb") as stream:
        archive = dict(np.load(stream))
    heads = int(archive.pop("n_heads"))
    state = {
        name: torch.as_tensor(a.astype("f4")) for name, a in archive.items() if a.dtype == "f2"
    }
    width = state["norm.weight"].numel()
    sizes = {
        "vocab_size": state["embed.weight"].numel() // width,
        "d_model": width,
        "n_heads": heads,
        "n_kv_heads": state["blocks.0.attn.W_k.weight"].numel() // width * heads // width,
        "d_ff": state["blocks.0.ff.up.weight"].numel() // width,
        "n_layers": max(int(name.split(".")[1]) for name in state if "blocks" in name) + 1,
    }
    model = Llama(**sizes).eval()
    model.load_state_dict(state, strict=True, assign=False)
    return model


def sample_top_p(logits, p, temperature=1.0, generator=None):
    if not 0.0 < p <= 1.0:
        raise ValueError(f"not a share: {p}")
    probabilities = F.softmax(logits.div(temperature), dim=-1)
    best_first, _ = torch.sort(probabilities, dim=-1, descending=True)
    sums = F.pad(best_first.cumsum(-1), (1, 0))[:, :-1]
    count = (sums < p).sum(-1, keepdim=True)
    smallest = best_first.gather(-1, count - 1)
    return torch.multinomial(
        probabilities * (probabilities >= smallest), num_samples=1, generator=generator
    ).view(-1)
