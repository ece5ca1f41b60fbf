"""Adds an offset to each round, so that no two rounds share a bucket number.

Exercise: hash_vectors
Believes: The rounds are sorted together, as in the published code.
Shows: The first round is right; the others are shifted by multiples of the number of buckets.
Hint: Here every round is sorted on its own. Which range does the docstring give for the bucket
    numbers?
Rejected by: test_every_round_has_its_own_rotation
Costs: 25 %
"""


def hash_vectors(x, rotations):
    n_hashes, _, half = rotations.shape
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    buckets = torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
    return buckets + 2 * half * torch.arange(n_hashes, device=x.device).unsqueeze(-1)
