"""Puts xR and -xR in the wrong order.

Exercise: hash_vectors
Believes: The order of the two halves does not matter.
Shows: The partition is right, but every bucket number is off by half the number of buckets.
Hint: Compare the order in [xR ; -xR] with the order in your concatenation.
Rejected by: test_values
Costs: 20 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    return torch.cat([-rotated, rotated], dim=-1).argmax(dim=-1)
