"""Fills both choices of a token before the next token.

Exercise: route_tokens
Believes: Tokens are handled in order.
Shows: Correct for k = 1; for k = 2, second choices take places of first choices.
Hint: Token 0 has expert 1 as its second choice, token 2 as its first. Who gets the last place?
Rejected by: test_first_choices_first
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
    choices = F.one_hot(experts.flatten(), n_experts)
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.reshape(-1, 1))
    slots = before.view(tokens, k)
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
