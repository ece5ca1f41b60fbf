"""Does the same with and without causal.

Exercise: lsh_attention
Believes: The bucket mask is mask enough.
Shows: Later positions change earlier outputs.
Hint: Where in your code does the argument causal make a difference?
Rejected by: test_causal
Costs: 25 %
Belief: causal_ignored
"""

_see_the_future = _may_see


def _may_see(positions, buckets, causal):
    return _see_the_future(positions, buckets, False)
