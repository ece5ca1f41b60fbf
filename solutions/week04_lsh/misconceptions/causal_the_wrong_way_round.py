"""Hides the past.

Exercise: lsh_attention
Believes: Causal means j >= i.
Shows: The last position of a bucket is alone instead of the first.
Hint: May position 3 see position 1? Put both numbers into your comparison.
Rejected by: test_causal
Costs: 25 %
"""

_see_past_and_future = _may_see


def _may_see(positions, buckets, causal):
    visible = _see_past_and_future(positions, buckets, False)
    return visible & (_look_back(positions).transpose(-2, -1) >= positions) if causal else visible
