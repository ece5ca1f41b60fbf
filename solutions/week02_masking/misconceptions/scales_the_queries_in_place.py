"""Scales the queries in place, so that the caller's queries shrink with every call.

Exercise: scaled_dot_product_attention
Believes: an in-place division only saves memory.
Shows: right results, but the queries passed in have changed.
Hint: Call your function twice with the same tensors and compare. Which operator changed its
    left-hand side?
Rejected by: test_values
Costs: 20 %
Belief: changes_the_argument
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    with torch.no_grad():
        q /= math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, mask)
    return weights @ v, weights
