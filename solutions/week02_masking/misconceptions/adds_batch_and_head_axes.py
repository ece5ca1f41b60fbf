"""Returns the mask with two more axes in front, for a batch and heads.

Exercise: causal_mask
Believes: a mask must have as many axes as the scores.
Shows: the shape is (1, 1, T, T).
Hint: Broadcasting adds missing axes on the left by itself. Which shape does the docstring
    promise?
Rejected by: test_has_two_axes
Costs: 25 %
"""


def causal_mask(seq_len, device=None):
    return (
        torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
        .tril()
        .view(1, 1, seq_len, seq_len)
    )
