"""Takes the block of step s to be that of device s.

Exercise: ring_attention
Believes: The block of step s comes from device s.
Shows: Causal outputs use the wrong blocks.
Hint: From which device is the block that device 2 has in step 1?
Rejected by: test_causal
Costs: 35 %
"""

def ring_attention(q, k, v, causal=True):
    n = len(q)
    if not n == len(k) == len(v):
        raise ValueError(f'{n}, {len(k)} and {len(v)} blocks of queries, keys and values')
    wide = torch.promote_types(v[0].dtype, torch.float32)
    merged: list[tuple[torch.Tensor, torch.Tensor] | None] = [None] * n
    ring = list(zip(range(n), k, v, strict=True))
    for step in range(n):
        for device, (source, key, value) in enumerate(ring):
            source = step
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
