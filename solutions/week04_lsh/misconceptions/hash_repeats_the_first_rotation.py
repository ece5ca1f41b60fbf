"""Uses the first rotation in every round.

Exercise: hash_vectors
Believes: One random rotation is as good as another, so it may be reused.
Shows: All rounds put the vectors into the same buckets, and more rounds bring nothing.
Hint: What would a second round find that the first one missed, if both use the same rotation?
Rejected by: test_every_round_has_its_own_rotation
Costs: 35 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = (x.to(dtype) @ rotations[0].to(dtype)).unsqueeze(-3)
    buckets = torch.cat([rotated, -rotated], dim=-1).argmax(dim=-1)
    return buckets.expand(*buckets.shape[:-2], rotations.shape[0], buckets.shape[-1])
