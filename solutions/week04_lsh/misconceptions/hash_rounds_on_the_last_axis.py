"""Puts the axis of rounds last, after the positions.

Exercise: hash_vectors
Believes: The result is (..., T, n_hashes).
Shows: Right numbers, transposed.
Hint: Compare the shape in the Returns section with the shape of your result when n_hashes and T
    differ.
Rejected by: test_every_round_has_its_own_rotation
Costs: 25 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1).transpose(-1, -2)
