"""Calls `view` right after the transposition, whose memory order no longer matches.

Exercise: merge_heads
Believes: `view` and `reshape` are the same.
Shows: a RuntimeError about strides, except where there is one head or one token.
Hint: Read the error message: it names the call that may copy. Why is a copy needed here?
Rejected by: test_values
Costs: 25 %
Belief: contiguous_input
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    return x.transpose(1, 2).view(batch, tokens, heads * size)
