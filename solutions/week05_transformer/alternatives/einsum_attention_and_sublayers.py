"""Attention by einsum; a block is a list of sublayers; training is a generator of losses."""

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        if d_model % n_heads != 0:
            raise ValueError(f"n_heads={n_heads} does not divide d_model={d_model}")
        super().__init__()
        self.H, self.p = n_heads, dropout
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.H, -1)) for part in (q, k, v))  # (B, T, H, d)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
        place = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(place[:, None] >= place, scores, float("-inf"))
        weights = scores.softmax(-1)
        mixing = nn.functional.dropout(weights, self.p, self.training)
        y = self.proj(torch.einsum("bhij,bjhd->bihd", mixing, v).flatten(2))
        return (y, weights) if return_weights else y


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.ln1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_heads, dropout)
        self.ln2 = nn.LayerNorm(d_model)
        layers = [nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)]
        self.ff = nn.Sequential(*layers, nn.Dropout(dropout))

    def sublayers(self):
        yield lambda x: self.attn(self.ln1(x))
        yield lambda x: self.ff(self.ln2(x))

    def forward(self, x):
        return sum_up(x, self.sublayers())


def sum_up(x, functions):
    stream = x
    for function in functions:
        stream = stream.add(function(stream))
    return stream


class MiniTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        while len(self.blocks) < n_layers:
            self.blocks.append(TransformerBlock(d_model, n_heads, 4 * d_model, dropout))
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        # an embedding that is neither trained nor saved: kept out of the module's own lists
        self.register_buffer("table", sinusoidal_positions(max_len, d_model), persistent=False)

    @property
    def max_len(self):
        return self.table.shape[0]

    def forward(self, ids):
        if ids.shape[-1] > self.max_len:
            raise ValueError(f"{ids.shape[-1]} > {self.max_len}")
        place = torch.arange(ids.shape[-1], device=ids.device)
        x = self.embed(ids) + nn.functional.embedding(place, self.table)
        x = sum_up_blocks(x, self.blocks)
        return torch.einsum("btc,vc->btv", self.ln_f(x), self.head.weight)


def sum_up_blocks(x, blocks):
    return x if len(blocks) == 0 else sum_up_blocks(blocks[0](x), list(blocks)[1:])


def losses_of(model, inputs, targets, optimiser):
    """Takes a step whenever a loss is requested."""
    flat = targets.reshape(-1)
    while True:
        loss = nn.CrossEntropyLoss()(model(inputs).reshape(flat.numel(), -1), flat)
        model.zero_grad()
        loss.backward()
        optimiser.step()
        yield loss.item()


def fit(model, inputs, targets, steps, lr=1e-2):
    mode = model.training
    endless = losses_of(model.train(), inputs, targets, torch.optim.Adam(model.parameters(), lr=lr))
    losses = [next(endless) for _ in range(steps)]
    model.train(mode)
    return losses
