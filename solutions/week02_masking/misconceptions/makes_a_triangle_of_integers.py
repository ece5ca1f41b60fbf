"""Returns a triangle of the integers 0 and 1.

Exercise: causal_mask
Believes: zeros and ones are a mask.
Shows: the values are right, the dtype is an integer type; `~mask` then gives -1 and -2.
Hint: What does `~` make of an integer 1? Which dtype does the docstring ask for?
Rejected by: test_is_boolean
Costs: 25 %
Belief: bool_masks
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.int64, device=device).tril()
