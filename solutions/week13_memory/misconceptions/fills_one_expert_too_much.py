"""Fills each expert up to the mean load.

Exercise: route_tokens
Believes: A balanced expert gets T · k / E tokens.
Shows: The number of kept choices does not depend on the capacity.
Hint: Ten tokens choose the same of four experts, with four places. How many are kept?
Rejected by: test_everybody_chooses_one
Costs: 35 %
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
    dropped = slots >= max(1, tokens * k // n_experts)
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
