"""Puts each negated coordinate next to its original.

Exercise: hash_vectors
Believes: Stacking and flattening gives the same list as concatenating.
Shows: The partition is right, but the bucket numbers are permuted.
Hint: Write down the order of the 2k entries for k = 2, and compare it with [xR ; -xR].
Rejected by: test_values
Costs: 25 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    return torch.stack([rotated, -rotated], dim=-1).flatten(-2).argmax(dim=-1)
