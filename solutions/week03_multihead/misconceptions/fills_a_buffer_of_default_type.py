"""Returns the default dtype for every dtype of the input.

Exercise: split_heads
Believes: `torch.zeros(shape)` takes dtype and device from the tensor assigned to it.
Shows: right in float32 on the CPU; other dtypes are returned as float32.
Hint: Compare `.dtype` and `.device` of your result with those of x for a half-precision x.
Rejected by: test_every_dtype
Costs: 20 %
"""


def split_heads(x, num_heads):
    batch, tokens, width = x.shape
    if width % num_heads:
        raise ValueError(f"a width of {width} cannot be cut into {num_heads} equal heads")
    size = width // num_heads
    heads = torch.zeros(batch, num_heads, tokens, size)
    for head in range(num_heads):
        heads[:, head] = x[:, :, head * size : (head + 1) * size]
    return heads
