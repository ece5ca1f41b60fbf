"""Does not check the numbers of blocks.

Exercise: ring_attention
Believes: zip stops at the shortest list.
Shows: Different numbers of blocks raise no ValueError, or a different message.
Hint: What happens with four blocks of queries and three of keys?
Rejected by: test_refuses_missing_blocks
Costs: 20 %
"""

def ring_attention(q, k, v, causal=True):
    n = len(q)
    wide = torch.promote_types(v[0].dtype, torch.float32)
    merged: list[tuple[torch.Tensor, torch.Tensor] | None] = [None] * n
    ring = list(zip(range(n), k, v, strict=False))
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
        ring = ring[-1:] + ring[:-1]
    return [result[0].to(v[0].dtype) for result in merged if result is not None]
