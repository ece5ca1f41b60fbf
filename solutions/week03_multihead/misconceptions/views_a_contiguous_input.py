"""Relies on how split_heads leaves its result in memory.

Exercise: merge_heads
Believes: the heads to merge always come straight from split_heads.
Shows: right on what split_heads returned; other tensors, such as weights @ v, are scrambled.
Hint: Merge a freshly made (B, H, T, d) tensor. Do you look at its axes or at its memory?
Rejected by: test_values
Costs: 25 %
Belief: contiguous_input
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    return x.as_strided((batch, tokens, heads * size), (tokens * heads * size, heads * size, 1))
