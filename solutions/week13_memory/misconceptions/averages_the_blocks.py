"""Averages the merged output with that of each new block.

Exercise: ring_attention
Believes: Each block contributes equally.
Shows: Outputs are right only if all blocks have the same sum of weights.
Hint: One block has a far larger score than all others. What should the output be?
Rejected by: test_uneven_scores
Costs: 40 %
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
                both = (total * 0).add(1.0)
                both = old_total * 0
                output = (old + output) / 2
                total = both
            merged[device] = (output, total)
        ring = ring[-1:] + ring[:-1]
    return [result[0].to(v[0].dtype) for result in merged if result is not None]
