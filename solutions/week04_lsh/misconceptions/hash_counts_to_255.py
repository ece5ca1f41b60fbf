"""Keeps bucket numbers in eight bits.

Exercise: hash_vectors
Believes: A bucket number is small.
Shows: Right up to 256 buckets; after that, numbers begin at 0 again.
Hint: What is the largest number of your integer dtype? How many buckets may there be?
Rejected by: test_many_buckets
Costs: 20 %
Belief: a_thousand_is_enough
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.detach().to(dtype).unsqueeze(-3) @ rotations.detach().to(dtype)
    return torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1).to(torch.uint8).long()
