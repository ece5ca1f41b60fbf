"""Reshapes directly to (B, T, C) while the heads still precede the tokens.

Exercise: merge_heads
Believes: a reshape to the right shape moves every number to its position.
Shows: the shape is right, but a row mixes several tokens of one head.
Hint: Split a small numbered x and merge it again. Do you get x back?
Rejected by: test_values
Costs: 90 %
Belief: heads_by_view
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    return x.reshape(batch, tokens, heads * size)
