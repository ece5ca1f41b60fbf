"""Lets no gradient flow to blocks of other devices.

Exercise: ring_attention
Believes: Data from other devices has no gradient.
Shows: Outputs are correct; each device trains its own block only.
Hint: Which blocks get a gradient from the outputs of device 0?
Rejected by: test_gradients
Costs: 30 %
"""

def ring_attention(q, k, v, causal=True):
    n = len(q)
    if not n == len(k) == len(v):
        raise ValueError(f'{n}, {len(k)} and {len(v)} blocks of queries, keys and values')
    wide = torch.promote_types(v[0].dtype, torch.float32)
    merged: list[tuple[torch.Tensor, torch.Tensor] | None] = [None] * n
    ring = list(zip(range(n), k, v, strict=True))
    for _ in range(n):
        for device, (source, key, value) in enumerate(ring):
            if causal and source > device:
                continue
            query = q[device].to(wide)
            scores = query @ key.to(wide).mT / math.sqrt(query.shape[-1])
            if causal and source == device:
                later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
                scores = scores.masked_fill(later.triu(1), -torch.inf)
            total = scores.logsumexp(dim=-1, keepdim=True)
            output = (scores - total).exp() @ value.to(wide)
            if (previous := merged[device]) is not None:
                old, old_total = previous
                both = torch.logaddexp(old_total, total)
                output = (old_total - both).exp() * old + (total - both).exp() * output
                total = both
            merged[device] = (output, total)
        ring = [(s, x.detach(), y.detach()) for s, x, y in ring[-1:] + ring[:-1]]
    return [result[0].to(v[0].dtype) for result in merged if result is not None]
