"""Deals the features out to the heads in turn, like cards.

Exercise: split_heads
Believes: (T, d, H) and (T, H, d) are two spellings of one layout.
Shows: head 0 holds the features 0, H, 2H, … of a token.
Hint: When you cut the last axis in two, which of the new axes is the slow one? Head 0 should own the first d features.
Rejected by: test_values
Costs: 40 %
Belief: interleaved_heads
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, tokens, width // num_heads, num_heads).permute(0, 3, 1, 2)
