"""Returns the default dtype for every dtype of the input.

Exercise: merge_heads
Believes: a new tensor takes its dtype from what is written into it.
Shows: right in float32; other dtypes are returned as float32.
Hint: Compare `.dtype` and `.device` of the result with those of the input.
Rejected by: test_every_dtype
Costs: 20 %
"""


def merge_heads(x):
    batch, heads, tokens, size = x.shape
    merged = torch.empty(batch, tokens, heads * size)
    for head in range(heads):
        merged[..., head * size : (head + 1) * size] = x[:, head]
    return merged
