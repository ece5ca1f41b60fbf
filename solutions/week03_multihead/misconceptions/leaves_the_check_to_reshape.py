"""Raises a RuntimeError where the width cannot be cut evenly.

Exercise: split_heads
Believes: any exception will do.
Shows: a RuntimeError about an invalid shape instead of a ValueError about the number of heads.
Hint: Which exception does the docstring promise, and what should its message state?
Rejected by: test_refuses_an_uneven_cut
Costs: 15 %
Belief: uneven_heads
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    return x.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2)
