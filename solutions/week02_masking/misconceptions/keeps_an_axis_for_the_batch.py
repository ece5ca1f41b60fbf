"""Returns the mask with one more axis in front, for a batch.

Exercise: causal_mask
Believes: a mask needs an axis for the batch, if only of size 1.
Shows: the shape is (1, T, T).
Hint: Broadcasting adds missing axes on the left by itself. Which shape does the docstring
    promise?
Rejected by: test_has_two_axes
Costs: 25 %
"""


def causal_mask(seq_len, device=None):
    return torch.ones(1, seq_len, seq_len, dtype=torch.bool, device=device).tril()
