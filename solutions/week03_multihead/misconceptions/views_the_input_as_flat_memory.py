"""Calls a `view` that merges the batch and the tokens, which only a contiguous input allows.

Exercise: split_heads
Believes: tensors always lie in memory in the order of their axes.
Shows: right for fresh tensors; a transposed batch is refused with an error about strides.
Hint: Some tensors are transposed views of others. Which call copies when it must, and do batch and
    tokens have to be merged at all?
Rejected by: test_inputs_that_are_views
Costs: 15 %
Belief: contiguous_input
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    rows = x.view(batch * tokens, num_heads, width // num_heads)
    return rows.view(batch, tokens, num_heads, width // num_heads).transpose(1, 2)
