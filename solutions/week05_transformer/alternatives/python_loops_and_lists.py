"""Plain Python wherever it will do: loops over positions, sequences and steps."""

import math

import torch
from torch import nn


def sinusoidal_positions(seq_len: int, d_model: int) -> torch.Tensor:
    if d_model & 1:
        raise ValueError("odd width: " + str(d_model))
    rows = []
    for pos in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, n_heads, dropout)
        grow, shrink = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.ff = nn.Sequential(grow, nn.GELU(), shrink, nn.Dropout(p=dropout))

    def forward(self, x):
        for norm, work in ((self.ln1, self.attn), (self.ln2, self.ff)):
            x = x + work(norm(x))
        return x


def fit(model, inputs, targets, steps, lr=1e-2):
    before = model.training
    losses = []
    try:
        model.train(True)
        optimiser = torch.optim.Adam(params=list(model.parameters()), lr=lr, betas=(0.9, 0.999))
        while len(losses) < steps:
            logits = model(inputs)
            total = 0.0
            for row, wanted in zip(logits.unbind(0), targets.unbind(0), strict=True):
                total = total + nn.functional.cross_entropy(row, wanted, reduction="sum")
            loss = total / targets.numel()
            optimiser.zero_grad(set_to_none=False)
            loss.backward()
            losses.append(float(loss))
            optimiser.step()
    finally:
        model.train(before)
    return losses


@torch.no_grad()
def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    before = model.training
    columns = list(prompt.unbind(dim=1))
    try:
        model.eval()
        for _ in range(max_new_tokens):
            window = torch.stack(columns[-model.max_len :], dim=1)
            last = model(window)[:, -1]
            if temperature == 0:
                columns.append(last.argmax(-1))
                continue
            powers = (last - last.amax(-1, keepdim=True)).div(temperature).exp()
            chances = powers / powers.sum(-1, keepdim=True)
            columns.append(torch.multinomial(chances, 1, generator=generator)[:, 0])
    finally:
        model.train(before)
    return torch.stack(columns, dim=1)
