"""Drops axes of length one from the result.

Exercise: split_heads
Believes: an axis of length one carries no information.
Shows: right until a batch has one sequence, a sequence one token, or a head one feature.
Hint: Callers count on four axes. What shape is returned for a single sequence?
Rejected by: test_singleton_axes
Costs: 20 %
Belief: squeezed_axes
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2).squeeze()
