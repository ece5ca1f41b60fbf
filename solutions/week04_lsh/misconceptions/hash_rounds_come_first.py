"""Puts the axis of rounds before all others.

Exercise: hash_vectors
Believes: Rounds come first, as in `rotations`.
Shows: Right without leading axes; with them the rounds precede the batch.
Hint: Print the shape for x of shape (B, T, d). Between which two axes does n_hashes belong?
Rejected by: test_any_leading_dimensions
Costs: 20 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = torch.stack([x.to(dtype) @ rotation.to(dtype) for rotation in rotations])
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
