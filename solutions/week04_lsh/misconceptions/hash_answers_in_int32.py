"""Returns the bucket numbers as int32.

Exercise: hash_vectors
Believes: Small numbers need no 64 bits.
Shows: Right numbers of the wrong dtype; gather refuses them as an index.
Hint: Which integer dtype does argmax give, and which one does indexing expect?
Rejected by: test_values
Costs: 15 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1).int()
