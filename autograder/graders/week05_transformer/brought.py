"""What week 5 brings along (`agree.bringing`): this source is defined beside the submission."""

import torch
from torch import nn


class Watched(nn.Module):
    """ids (B, T) -> logits (B, T, V); it keeps note of whether gradients were recorded."""

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
        """What whoever trained or looked at the model before may leave behind."""
        self(ids).square().sum().backward()
