"""Takes a mask that has no effect on the result.

Exercise: scaled_dot_product_attention
Believes: masked_fill has done its work once it was called.
Shows: the output is the same with and without a mask.
Hint: Follow the mask through your function: which line uses its result?
Rejected by: test_values
Costs: 90 %
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
