"""Flattens the rotations into one matrix by reshape, which mixes their rows and columns.

Exercise: hash_vectors
Believes: Reshape can move the axis of rounds past the axis of features.
Shows: Right for a single round; with several, each round uses a scrambled matrix.
Hint: Reshape keeps the order of the numbers in memory. Which axes must change places before it?
Rejected by: test_every_round_has_its_own_rotation
Costs: 30 %
"""


def hash_vectors(x, rotations):
    n_hashes, d, half = rotations.shape
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype) @ rotations.to(dtype).reshape(d, n_hashes * half)
    rotated = rotated.unflatten(-1, (n_hashes, half)).transpose(-3, -2)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
