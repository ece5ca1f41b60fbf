"""Marks the keys that must be hidden with True, while in this course True means "may attend".

Exercise: causal_mask
Believes: a mask names what is masked, as the masks of nn.MultiheadAttention do.
Shows: every entry is the opposite of what it should be.
Hint: Libraries disagree about what True means. Read the convention at the top of the module
    again.
Rejected by: test_says_true_for_allowed
Costs: 40 %
Belief: true_means_hidden
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).triu(diagonal=1)
