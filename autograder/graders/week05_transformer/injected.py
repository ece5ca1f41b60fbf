"""Models that week 5's hidden tests add to each program (`agree.bringing`)."""

import torch
from torch import nn


class Watched(nn.Module):
    """A model, ids (B, T) -> logits (B, T, V), that records if a call had gradients enabled."""

    def __init__(self, vocabulary, max_len):
        super().__init__()
        self.max_len = max_len
        self.embed = nn.Embedding(vocabulary, 8)
        self.head = nn.Linear(8, vocabulary)
        self.noted = False

    def forward(self, ids):
        self.noted = self.noted or torch.is_grad_enabled()
        return self.head(self.embed(ids))

    def recorded(self):
        return self.noted

    def leave_gradients(self, ids):
        """Leave gradients in the parameters, as earlier training would."""
        self(ids).square().sum().backward()


class Transformer(nn.Module):
    """A transformer, ids (B, T) -> logits (B, T, V), that raises ValueError if T > max_len."""

    def __init__(self, vocabulary, max_len):
        super().__init__()
        self.max_len = max_len
        self.embed = nn.Embedding(vocabulary, 8)
        self.register_buffer("positions", torch.linspace(-1, 1, max_len * 8).view(max_len, 8))
        self.ln1, self.mix = nn.LayerNorm(8), nn.Linear(8, 8)
        self.ln2, self.ff = nn.LayerNorm(8), nn.Sequential(nn.Linear(8, 32), nn.GELU())
        self.back, self.head = nn.Linear(32, 8), nn.Linear(8, vocabulary, bias=False)

    def forward(self, ids):
        length = ids.shape[-1]
        if length > self.max_len:
            raise ValueError(f"{length} tokens, and at most {self.max_len} are taken")
        x = self.embed(ids) + self.positions[:length].to(self.head.weight.dtype)
        values = self.mix(self.ln1(x))
        near = torch.arange(length, device=ids.device)
        scores = values @ values.mT / 8**0.5
        hidden = near > near.unsqueeze(-1)
        x = x + scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values
        return self.head(x + self.back(self.ff(self.ln2(x))))
