"""Computes probabilities in the dtype of the logits.

Exercise: route_tokens
Believes: Probabilities are between 0 and 1.
Shows: In half precision, weights and loss have the wrong dtype.
Hint: Which dtype do the weights have for float16 logits?
Rejected by: test_dtypes
Costs: 20 %
"""

def route_tokens(logits, k, capacity):
    tokens, n_experts = logits.shape
    if not 1 <= k <= n_experts:
        raise ValueError(f'k = {k} is not between 1 and {n_experts}')
    if capacity < 1:
        raise ValueError(f'capacity = {capacity} is below 1')
    wide = logits.dtype
    probabilities = torch.softmax(logits.to(wide), dim=-1)
    weights, experts = probabilities.topk(k, dim=-1)
    choices = F.one_hot(experts.T.flatten(), n_experts)
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
