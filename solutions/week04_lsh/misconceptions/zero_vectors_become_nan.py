"""Divides every key by its length, also where that is zero.

Exercise: lsh_attention
Believes: No vector is zero.
Shows: NaN as soon as there is a zero vector, for instance from padding.
Hint: What should the unit vector of a zero vector be, and how do you keep the division from seeing
    the zero?
Rejected by: test_zero_vectors
Costs: 15 %
"""


def _unit_length(x):
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True)
