"""A model for week 11's graders, so that no exercise depends on the stub's model.

`agree.bringing` runs this source in the processes of the submission and of the solution.
"""

import torch
from torch import nn


class Model(nn.Module):
    """A model with `edit`: ids (B, T) -> logits (B, T, V).

    `runs` records the shape of the ids of each call. The model raises RuntimeError if `edit`
    changes its argument or returns a tensor of another shape.
    """

    def __init__(self, vocabulary, width, n_layers, n_heads, most=40):
        super().__init__()
        self.n_layers, self.n_heads = n_layers, n_heads
        self.embed = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(most, width)
        shape = (n_layers, n_heads, width, width)
        self.mixes = nn.Parameter(torch.zeros(shape))  # which earlier positions a head reads
        self.writes = nn.Parameter(torch.zeros(shape))
        self.unembed = nn.Linear(width, vocabulary, bias=False)
        self.runs = []

    def forward(self, ids, edit=None):
        self.runs = [*self.runs, tuple(ids.shape)]
        length = ids.shape[1]
        x = self.embed(ids) + self.positions.weight[:length]
        hidden = torch.ones(length, length, dtype=torch.bool, device=ids.device).triu(1)
        for layer in range(self.n_layers):
            stream = x[:, None]
            scores = stream @ self.mixes[layer] @ stream.mT
            read = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ stream
            written = torch.tanh(read @ self.writes[layer])
            if edit is not None:
                written = self._edited(edit, layer, written)
            x = x + written.sum(dim=1)
        return self.unembed(x)

    def _edited(self, edit, layer, written):
        before = written.detach().clone()
        edited = edit(layer, written)
        if not torch.equal(written.detach(), before):
            raise RuntimeError("`edit` changed `written` itself; it should return a changed copy")
        if edited.shape != before.shape:
            raise RuntimeError(f"`edit` should return {tuple(before.shape)}")
        return edited


def runs(model):
    """Return the shapes of the ids of all calls so far."""
    return list(model.runs)


def drawn(batch, period, vocab_size, repeats, seed):
    """Return two draws from one generator, and then a number from torch's own generator."""
    torch.manual_seed(seed + 1)
    generator = torch.Generator().manual_seed(seed)
    draw = submission.repeated_tokens  # noqa: F821 -- defined by `agree.bringing`
    both = [draw(batch, period, vocab_size, repeats, generator) for _ in range(2)]
    return torch.stack(both), torch.rand(1).item()


def drawn_by_default(batch, period, vocab_size, seed):
    """Return a draw from torch's own generator."""
    torch.manual_seed(seed)
    return submission.repeated_tokens(batch, period, vocab_size)  # noqa: F821
