"""Lets the first chunk look at the last one.

Exercise: lsh_attention
Believes: The sorted order is a ring.
Shows: Differs only where the first and the last chunk hold the same bucket.
Hint: Rolling a tensor brings its last entry to the front. What should precede the first chunk?
Rejected by: test_nothing_before_the_first_chunk
Costs: 20 %
"""


def _look_back(chunks, nothing=0):
    return torch.cat([chunks.roll(1, dims=-3), chunks], dim=-2)
