"""Does not check k.

Exercise: route_tokens
Believes: topk checks its argument.
Shows: k = 0, or a k above E, raises no ValueError.
Hint: Which error does your program raise for k = 5 and 4 experts?
Rejected by: test_refuses
Costs: 20 %
"""

def route_tokens(logits, k, capacity):
    tokens, n_experts = logits.shape
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
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
