"""Positions as points turning on the complex circle; modes and gradients kept by decorators."""

import functools
import math

import torch
from torch import nn


def sinusoidal_positions(seq_len, d_model):
    pairs, rest = divmod(d_model, 2)
    if rest:
        raise ValueError(f"cannot pair up {d_model} columns")
    turns = torch.exp(torch.arange(pairs).double() * (-2 * math.log(10_000) / d_model))
    angles = torch.outer(torch.arange(seq_len).double(), turns)
    circle = torch.polar(torch.ones_like(angles), math.pi / 2 - angles)  # cos(90° - a) is sin(a)
    return torch.view_as_real(circle).reshape(seq_len, d_model).to(torch.float32)


def in_mode(training):
    """Runs a function of a model in one mode and restores its mode."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(model, *args, **kwargs):
            modes = {part: part.training for part in model.modules()}
            model.train(training)
            try:
                return function(model, *args, **kwargs)
            finally:
                for part, mode in modes.items():
                    part.training = mode

        return wrapped

    return decorate


@in_mode(training=True)
def fit(model, inputs, targets, steps, lr=1e-2):
    optimiser = torch.optim.Adam(model.parameters(), lr)

    def closure():
        optimiser.zero_grad(set_to_none=True)
        log_p = torch.log_softmax(model(inputs), dim=-1)
        loss = -log_p.gather(-1, targets.unsqueeze(-1)).mean()
        loss.backward()
        return loss

    return [optimiser.step(closure).item() for _ in range(steps)]


@in_mode(training=False)
@torch.no_grad()
def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    if max_new_tokens == 0:
        return prompt.clone()
    logits = model(prompt[:, max(0, prompt.shape[1] - model.max_len) :])[:, -1, :]
    if temperature > 0:
        p = torch.nn.functional.softmax(logits / temperature, dim=1)
        following = torch.multinomial(p, num_samples=1, generator=generator)
    else:
        following = torch.argmax(logits, dim=1).unsqueeze(1)
    longer = torch.hstack([prompt, following])
    return generate(model, longer, max_new_tokens - 1, temperature, generator)


class MiniTransformer(nn.Module):
    """Computes the table in every call, on the device of the ids."""

    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        self.max_len, self.width = max_len, d_model
        self.embed = nn.Embedding(vocab_size, d_model)
        blocks = [
            TransformerBlock(d_model, n_heads, d_model * 4, dropout=dropout)
            for _ in range(n_layers)
        ]
        self.blocks = nn.Sequential(*blocks)
        self.ln_f = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        _, T = ids.shape
        if T > self.max_len:
            raise ValueError(f"sequence of {T}, but at most {self.max_len}")
        embedded = self.embed(ids)
        table = sinusoidal_positions(T, self.width).to(embedded)
        return self.head(self.ln_f(self.blocks(embedded + table)))
