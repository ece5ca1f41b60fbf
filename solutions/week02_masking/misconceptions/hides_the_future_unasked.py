"""Hides the future where no mask was given.

Exercise: scaled_dot_product_attention
Believes: attention is causal unless something else is said.
Shows: without a mask the upper triangle of the weights is zero.
Hint: An encoder looks in both directions. What should happen where the caller gives no mask?
Rejected by: test_without_a_mask
Costs: 30 %
Belief: always_causal
"""


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    weights = masked_softmax(scores, mask)
    return weights @ v, weights
