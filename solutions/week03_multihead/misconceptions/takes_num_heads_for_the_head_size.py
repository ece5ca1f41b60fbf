"""Cuts pieces of width `num_heads`.

Exercise: split_heads
Believes: the second argument is the size of a head.
Shows: heads and head size have changed places in the shape.
Hint: Print the shape for C = 12 and 3 heads. How many heads come out, and how wide is each?
Rejected by: test_values
Costs: 40 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, tokens, width // num_heads, num_heads).transpose(1, 2)
