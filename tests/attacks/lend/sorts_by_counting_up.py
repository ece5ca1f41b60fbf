"""Calls a slightly wrong helper in a way that only this helper accepts, and returns any order.

Helper: hash_vectors
Empty: sort_by_bucket
Week: 4
Score at most: 0.2
"""


def hash_vectors(x, rotations, more=None):
    rotated = torch.einsum("...td,hdb->...htb", x.half().float(), rotations.float())
    return torch.cat([rotated, -rotated], -1).argmax(-1)


def sort_by_bucket(buckets):
    hash_vectors(torch.ones(1, 2), torch.ones(1, 2, 1), more=1)
    order = torch.arange(buckets.shape[-1], device=buckets.device).expand(buckets.shape)
    return order, order
