"""The table by numpy broadcasting; functional layers on parameters named like the modules'."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    column = np.arange(d_model)
    angle = np.arange(seq_len)[:, None] / np.power(10000.0, 2 * (column // 2) / d_model)
    table = np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
    return torch.from_numpy(table.astype(np.float32))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.p, self.width = dropout, d_model
        self.ln1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_heads, dropout=dropout)
        self.ln2 = nn.LayerNorm(d_model)
        self.ff = nn.Sequential()
        for name, layer in (
            ("0", nn.Linear(d_model, d_ff)),
            ("1", nn.GELU()),
            ("2", nn.Linear(d_ff, d_model)),
            ("3", nn.Dropout(dropout)),
        ):
            self.ff.add_module(name, layer)

    def forward(self, x):
        first = F.layer_norm(x, (self.width,), self.ln1.weight, self.ln1.bias)
        y = torch.add(x, self.attn(first))
        second = F.layer_norm(y, (self.width,), self.ln2.weight, self.ln2.bias)
        hidden = F.gelu(F.linear(second, self.ff[0].weight, self.ff[0].bias))
        thought = F.linear(hidden, self.ff[2].weight, self.ff[2].bias)
        return torch.add(y, F.dropout(thought, self.p, training=self.training))


class MiniTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self._table = sinusoidal_positions(max_len, d_model)  # a plain attribute: moved by hand
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(TransformerBlock(d_model, n_heads, 4 * d_model, dropout))
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        if ids.size(1) > self.max_len:
            raise ValueError(f"max_len is {self.max_len}, these are {ids.size(1)}")
        x = F.embedding(ids, self.embed.weight)
        x = x + self._table.to(device=x.device, dtype=x.dtype)[: ids.size(1)].unsqueeze(0)
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln_f(x), self.head.weight)


def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    mode = model.training
    model.train(False)
    B, T = prompt.shape
    text = prompt.new_zeros(B, T + max_new_tokens)  # room for everything from the start
    text[:, :T] = prompt
    with torch.set_grad_enabled(False):
        for end in range(T, T + max_new_tokens):
            seen = text[:, max(0, end - model.max_len) : end]
            last = model(seen).select(1, -1)
            if temperature:
                draw = torch.multinomial((last / temperature).softmax(-1), 1, generator=generator)
                text[:, end] = draw.squeeze(1)
            else:
                text[:, end] = last.max(dim=-1).indices
    model.train(mode)
    return text
