"""The table in float32 throughout, filled by slices; Adam one parameter at a time, by transposed losses."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def sinusoidal_positions(seq_len, d_model):
    if d_model % 2 == 1:
        raise ValueError(f"d_model={d_model} is not even")
    table = torch.zeros(seq_len, d_model)
    position = torch.arange(0, seq_len, dtype=torch.float).unsqueeze(1)
    scale = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * scale)
    table[:, 1::2] = torch.cos(position * scale)
    return table


class MiniTransformer(nn.Module):
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_len, dropout=0.0):
        super().__init__()
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.ln_f = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList(
            [
                TransformerBlock(d_model=d_model, n_heads=n_heads, d_ff=4 * d_model, dropout=dropout)
                for _ in range(n_layers)
            ]
        )
        self.embed = nn.Embedding(vocab_size, d_model)
        self.max_len = max_len
        table = sinusoidal_positions(max_len, d_model)[None]
        self.register_buffer("pe", table, persistent=False)

    def forward(self, ids):
        B, T = ids.shape
        if self.max_len < T:
            raise ValueError("%d tokens > %d" % (T, self.max_len))
        x = self.embed(ids) + self.pe[:, :T].expand(B, -1, -1)
        for layer in range(len(self.blocks)):
            x = self.blocks[layer](x)
        return self.head(self.ln_f(x))


def fit(model, inputs, targets, steps, lr=1e-2):
    was = model.training
    model = model.train()
    adam = torch.optim.Adam(model.parameters(), lr=lr, foreach=False)
    history = []
    for step in range(steps):
        for parameter in model.parameters():
            parameter.grad = None
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)  # classes on axis 1
        history += [loss.detach().cpu().item()]
        loss.backward()
        adam.step()
    if not was:
        model.eval()
    return history


@torch.inference_mode()
def generate(model, prompt, max_new_tokens, temperature=1.0, generator=None):
    was = model.training
    model.eval()
    out = prompt.clone()
    while out.shape[1] < prompt.shape[1] + max_new_tokens:
        window = out if out.shape[1] <= model.max_len else out[:, out.shape[1] - model.max_len :]
        z = model(window)[:, -1]
        if temperature == 0:
            new = z.topk(1).indices
        else:
            new = torch.multinomial(F.softmax(z.div(temperature), -1), 1, generator=generator)
        out = torch.cat((out, new), -1)
    if was:
        model.train()
    return out
