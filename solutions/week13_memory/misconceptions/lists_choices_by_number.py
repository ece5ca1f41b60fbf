"""Sorts the chosen experts by their number.

Exercise: route_tokens
Believes: The order of the choices does not matter.
Shows: First and second choices are exchanged for some tokens.
Hint: Which of its choices is filled first for a token?
Rejected by: test_experts
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
    experts = probabilities.topk(k, dim=-1).indices.sort(dim=-1).values
    weights = probabilities.gather(1, experts)
    choices = F.one_hot(experts.T.flatten(), n_experts)
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
