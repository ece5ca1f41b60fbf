"""Lets a position see everything in its two chunks, ignoring the buckets.

Exercise: lsh_attention
Believes: A chunk contains one bucket.
Shows: If buckets are smaller than a chunk, unrelated vectors attend to each other.
Hint: Write the bucket of each position above your sorted list. Which pairs inside a window should
    not meet?
Rejected by: test_buckets_stay_apart
Costs: 30 %
"""


def _may_see(positions, buckets, causal):
    visible = _look_back(buckets, nothing=-1).transpose(-2, -1).expand(*buckets.shape[:-1], -1) >= 0
    if causal:
        visible = visible & (_look_back(positions).transpose(-2, -1) <= positions)
    return visible
