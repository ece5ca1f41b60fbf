"""Gives each vector the bucket that its negative should get.

Exercise: hash_vectors
Believes: The order of the two halves does not matter.
Shows: The partition is right, but every bucket number is off by half the number of buckets.
Hint: Take one column w and the vector x = w. Which bucket is argmax of [xR ; -xR] by hand, and
which one is yours?
Rejected by: test_values
Costs: 20 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    return torch.cat([-rotated, rotated], dim=-1).argmax(dim=-1)
