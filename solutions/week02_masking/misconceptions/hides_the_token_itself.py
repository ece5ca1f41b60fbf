"""Hides each token from itself, so that the first token can see nothing at all.

Exercise: causal_mask
Believes: causal means strictly before.
Shows: the diagonal is False.
Hint: How many keys should be left for the very first token? Have a look at the diagonal.
Rejected by: test_lower_triangle
Costs: 40 %
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril(diagonal=-1)
