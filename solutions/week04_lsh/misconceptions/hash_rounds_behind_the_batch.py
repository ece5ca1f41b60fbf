"""Puts the axis of rounds right after the first axis, which is right for three axes only.

Exercise: hash_vectors
Believes: The input is always (B, T, d).
Shows: Right for (B, T, d); with heads the rounds come before them, and without a batch the result
    is transposed.
Hint: Count the new axis from the end of the shape rather than from its start.
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = torch.stack([x.to(dtype) @ rotation.to(dtype) for rotation in rotations], dim=1)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
