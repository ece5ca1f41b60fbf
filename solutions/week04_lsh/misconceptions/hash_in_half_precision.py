"""Rotates half-precision vectors in half precision.

Exercise: hash_vectors
Believes: The rotation has to be cast to the dtype of x.
Shows: Large float16 vectors overflow to inf in several coordinates, and the largest is no longer
    known.
Hint: Which dtype does the docstring require at least, and what is float16's largest
    number?
Rejected by: test_large_half_precision_vectors
Costs: 20 %
Belief: work_in_half_precision
"""


def hash_vectors(x, rotations):
    rotated = x.unsqueeze(-3) @ rotations.to(x.dtype)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
