"""Takes one argmax over the entries of all rounds together.

Exercise: hash_vectors
Believes: The rounds only add more directions to choose from.
Shows: Every round answers with the same number, taken from a list that runs over all rounds.
Hint: Each round is a separate hash function. Over which axis should the argmax run?
Rejected by: test_every_round_has_its_own_rotation
Costs: 35 %
"""


def hash_vectors(x, rotations):
    dtype = torch.promote_types(x.dtype, torch.float32)
    rotated = x.to(dtype).unsqueeze(-3) @ rotations.to(dtype)
    both = torch.cat([rotated, -rotated], dim=-1).movedim(-3, -2).flatten(-2)
    return both.argmax(dim=-1).unsqueeze(-2).repeat_interleave(rotations.shape[0], dim=-2)
