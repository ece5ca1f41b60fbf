"""Allows each token itself and the tokens after it.

Exercise: causal_mask
Believes: the future is below the diagonal.
Shows: the True entries form the upper triangle.
Hint: Pick one row, say that of the second token, and list the keys it may see. Rows are queries,
    columns are keys.
Rejected by: test_lower_triangle
Costs: 45 %
"""


def causal_mask(seq_len, device=None):
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).triu()
