"""Reads the signs of xR as a binary number.

Exercise: hash_vectors
Believes: Locality-sensitive hashing means random hyperplanes.
Shows: Bucket numbers run up to two to the power of the columns.
Hint: Hyperplane hashing is another scheme. Angular hashing asks which of the 2k directions is
    nearest.
Rejected by: test_values
Costs: 40 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    bits = (x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)) > 0
    return (bits * 2 ** torch.arange(bits.shape[-1], device=x.device)).sum(dim=-1)
