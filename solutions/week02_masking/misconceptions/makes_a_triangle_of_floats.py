"""Returns a triangle of the floats 0 and 1.

Exercise: causal_mask
Believes: a mask is a matrix of zeros and ones.
Shows: the values are right, the dtype is float32.
Hint: The triangle is right. Which dtype does it have, and which one does the docstring ask for?
Rejected by: test_is_boolean
Costs: 90 %
Belief: bool_masks
"""


def causal_mask(seq_len, device=None):
    return torch.tril(torch.ones(seq_len, seq_len, device=device))
