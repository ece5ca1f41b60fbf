"""Detaches the matrices and u.

Exercise: additive_attention
Believes: What comes in as an argument is data.
Shows: The small network never learns.
Hint: The paper trains the network together with everything else. What gets a gradient in your code?
Rejected by: test_gradients
Costs: 25 %
"""


def additive_attention(q, k, v, W_q, W_k, u, mask=None):
    W_q, W_k, u = W_q.detach(), W_k.detach(), u.detach()
    scores = torch.tanh((q @ W_q.mT).unsqueeze(-2) + (k @ W_k.mT).unsqueeze(-3)) @ u
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1)
    weights = weights.masked_fill(~mask, 0.0)
    return weights @ v, weights
