"""Fills the place before the first chunk with zeros, which then count as keys of bucket 0.

Exercise: lsh_attention
Believes: Padding with zeros is invisible.
Shows: Positions of bucket 0 in the first chunk share their weight with keys that do not exist.
Hint: Zero is the number of a bucket and of a position. Which number belongs to neither?
Rejected by: test_nothing_before_the_first_chunk
Costs: 20 %
"""


def _look_back(chunks, nothing=0):
    before = torch.cat([torch.zeros_like(chunks[..., :1, :, :]), chunks[..., :-1, :, :]], dim=-3)
    return torch.cat([before, chunks], dim=-2)
