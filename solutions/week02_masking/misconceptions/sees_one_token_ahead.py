"""Allows each token to see one token ahead.

Exercise: causal_mask
Believes: the boundary lies one step further to the right.
Shows: the first diagonal above the main one is True.
Hint: A language model that sees the next token has nothing left to predict. Check where your
    boundary lies for the first row.
Rejected by: test_lower_triangle
Costs: 40 %
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril(diagonal=1)
