"""Takes a mask that has no effect on the result.

Exercise: additive_attention
Believes: Masks belong to the transformer.
Shows: Hidden keys have weight.
Hint: Follow the mask through your function. Which line uses its result?
Rejected by: test_masks
Costs: 35 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    weights = torch.softmax(scores, -1)
    return weights @ v, weights
