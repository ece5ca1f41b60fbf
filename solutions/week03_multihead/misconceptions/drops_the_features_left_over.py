"""Silently throws away the features that do not fill a whole head.

Exercise: split_heads
Believes: rounding the head size down is near enough.
Shows: no error for 14 features and 4 heads: two features are lost.
Hint: What should a function do with a request it cannot fulfil, and how would the caller find out?
Rejected by: test_refuses_an_uneven_cut
Costs: 20 %
Belief: uneven_heads
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    size = width // num_heads
    used = x[..., : num_heads * size]
    return used.reshape(batch, tokens, num_heads, size).transpose(1, 2)
