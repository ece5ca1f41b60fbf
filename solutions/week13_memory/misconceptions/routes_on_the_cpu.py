"""Creates a tensor on the CPU.

Exercise: route_tokens
Believes: Counting is done on the CPU.
Shows: Logits on a different device raise an error.
Hint: On which device are the tensors that you create?
Rejected by: test_device
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
    choices = (experts.T.reshape(-1, 1) == torch.arange(n_experts)).long()
    before = (choices.cumsum(dim=0) - 1).gather(1, experts.T.reshape(-1, 1))
    slots = before.view(k, tokens).T
    dropped = slots >= capacity
    loss = n_experts * (choices.to(wide).mean(dim=0) * probabilities.mean(dim=0)).sum()
    return (experts, weights.masked_fill(dropped, 0.0), slots.masked_fill(dropped, -1), loss)
