"""Returns float32 for inputs in half precision.

Exercise: scaled_dot_product_attention
Believes: a few more digits do no harm.
Shows: returns float32 for half precision.
Hint: Compare the dtype of both results with that of the queries, in float16.
Rejected by: test_float_types
Costs: 20 %
Belief: float_type_of_the_answer
"""


def scaled_dot_product_attention(q, k, v):
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    weights = softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]))
    return weights @ v, weights
