"""Hides a position from itself in causal attention.

Exercise: lsh_attention
Believes: Causal means strictly before.
Shows: The first position of a bucket has nothing to attend to and becomes NaN.
Hint: Is j <= i true for j = i? What is left for the very first position?
Rejected by: test_causal
Costs: 20 %
"""

_see_past_and_future = _may_see


def _may_see(positions, buckets, causal):
    visible = _see_past_and_future(positions, buckets, False)
    return visible & (_look_back(positions).transpose(-2, -1) < positions) if causal else visible
