"""Gives the weight of a dropped choice to the other one.

Exercise: route_tokens
Believes: The weights of a token keep their sum.
Shows: Correct for k = 1; for k = 2, weights of partly dropped tokens are too large.
Hint: Does the weight of a kept choice depend on whether the other is dropped?
Rejected by: test_dropped_weights
Costs: 30 %
"""

def route_tokens(logits, k, capacity):
    tokens, n_experts = logits.shape
    if not 1 <= k <= n_experts:
        raise ValueError(f'k = {k} is not between 1 and {n_experts}')
    if capacity < 1:
        raise ValueError(f'capacity = {capacity} is below 1')
    wide = torch.promote_types(logits.dtype, torch.float32)
    probabilities = torch.softmax(logits.to(wide), dim=-1)
    weights, experts = probabilities.topk(k, dim=-1)
    choices = F.one_hot(experts.T.flatten(), n_experts)
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    whole = weights.sum(dim=-1, keepdim=True)
    kept = weights.masked_fill(dropped, 0.0)
    kept = kept * whole / kept.sum(dim=-1, keepdim=True).clamp(min=1e-20)
    return (experts, kept, slots.masked_fill(dropped, -1), loss)
