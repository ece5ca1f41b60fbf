"""Returns float32 for every dtype of the inputs.

Exercise: scaled_dot_product_attention
Believes: attention is computed in float32, so that is what comes out.
Shows: returns float32 for half precision; float64 loses digits.
Hint: Computing in a wider type is allowed. Which dtype should the caller get back?
Rejected by: test_keeps_the_dtype
Costs: 20 %
Belief: float_type_of_the_answer
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
