"""Counts positions as if every block had the size of the first one.

Exercise: ring_attention
Believes: A sequence is split evenly.
Shows: With blocks of different sizes, earlier keys are hidden in causal attention.
Hint: With blocks of 1, 5 and 2 positions, at which position does the last block begin?
Rejected by: test_blocks_of_different_sizes
Costs: 25 %
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
            if causal:
                size = q[0].shape[2]
                place = device * size + torch.arange(scores.shape[-2], device=scores.device)
                key_place = source * size + torch.arange(scores.shape[-1], device=scores.device)
                scores = scores.masked_fill(key_place > place[:, None], -torch.inf)
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
