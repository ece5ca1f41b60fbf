"""Gives the heads a separate axis but leaves it after the tokens.

Exercise: split_heads
Believes: the order of the two middle axes does not matter.
Shows: the result is (B, T, H, d), so a later matrix product would compare heads instead of tokens.
Hint: The last two axes are the ones a matrix product works on. Which two should they be?
Rejected by: test_values
Costs: 90 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, tokens, num_heads, width // num_heads)
