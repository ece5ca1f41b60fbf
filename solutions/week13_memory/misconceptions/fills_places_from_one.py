"""Gives the first choice of an expert place 1, and drops places from `capacity` on.

Exercise: route_tokens
Believes: A running count gives the places.
Shows: All places are too large by one, and each expert gets a choice less than it may.
Hint: With a capacity of 1, how many choices does an expert get in your code?
Rejected by: test_first_choices_first
Costs: 25 %
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
    before = choices.cumsum(dim=0).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
