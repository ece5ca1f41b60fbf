"""Joins the heads along the batch axis and then cuts that axis as if the batch came first.

Exercise: split_heads
Believes: (H·B, T, d) and (B·H, T, d) are the same tensor.
Shows: right for a batch of one; otherwise heads of different sequences change places.
Hint: Try two sequences that differ. After `cat` along axis 0, is the second entry another head or another sequence?
Rejected by: test_values
Costs: 40 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    stacked = torch.cat(x.chunk(num_heads, dim=-1), dim=0)
    return stacked.reshape(batch, num_heads, tokens, width // num_heads)
