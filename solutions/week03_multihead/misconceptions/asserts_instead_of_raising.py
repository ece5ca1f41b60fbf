"""Checks the width with `assert`.

Exercise: split_heads
Believes: an assertion is how a function refuses an argument.
Shows: an AssertionError, which vanishes when Python runs with -O.
Hint: Assertions are for what can never happen. What does Python offer for a value that a caller got wrong?
Rejected by: test_refuses_an_uneven_cut
Costs: 15 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    assert width % num_heads == 0, f"{width} features, {num_heads} heads"
    return x.reshape(batch, tokens, num_heads, width // num_heads).transpose(1, 2)
