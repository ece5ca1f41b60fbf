"""Compares places in the window for the causal mask.

Exercise: lsh_attention
Believes: A lower triangle hides the future.
Shows: A position sees part of the previous chunk, but no part of its own.
Hint: The window is twice as long as the chunk, and sorted. Which numbers say who comes first in the
    sequence?
Rejected by: test_causal
Costs: 25 %
"""

_see_past_and_future = _may_see


def _may_see(positions, buckets, causal):
    visible = _see_past_and_future(positions, buckets, False)
    return visible.tril() if causal else visible
