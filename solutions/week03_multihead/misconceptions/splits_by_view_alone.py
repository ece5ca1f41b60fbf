"""Reshapes directly to (B, H, T, d) without moving an axis.

Exercise: split_heads
Believes: a view with the right shape holds the right numbers.
Shows: the shape is right, but each head is a run of whole tokens instead of a slice of every token.
Hint: Number the entries of a small x from 0 up and follow one token through your reshape. Which axis varies fastest in memory?
Rejected by: test_values
Costs: 90 %
Belief: heads_by_view
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    return x.reshape(batch, num_heads, tokens, width // num_heads)
