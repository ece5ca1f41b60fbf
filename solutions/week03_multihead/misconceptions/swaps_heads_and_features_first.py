"""Moves the features in front of the tokens.

Exercise: merge_heads
Believes: one transposition before the reshape is as good as another.
Shows: the shape is right; a row contains one or two features of many tokens.
Hint: Name the axes after each step: which two must be neighbours, in which order, before they can
    be merged?
Rejected by: test_values
Costs: 40 %
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    return x.transpose(2, 3).reshape(batch, tokens, heads * size)
