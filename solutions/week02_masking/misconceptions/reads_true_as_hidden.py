"""Hides the keys where the mask says True.

Exercise: scaled_dot_product_attention
Believes: True marks what is masked out.
Shows: each query attends to exactly the keys it must not see.
Hint: Read the mask convention at the top of the module again, then the first row of a causal
    mask.
Rejected by: test_values
Costs: 35 %
Belief: true_means_hidden
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1) if mask is None else masked_softmax(scores, ~mask)
    return weights @ v, weights
