"""Puts all queries of a chunk at the last position.

Exercise: sink_attention
Believes: A chunk attends to one cache.
Shows: Correct for a single query; while the cache fills, earlier queries have wrong distances to the sinks.
Hint: Where is the query at position 1 within its cache, if the chunk has 12 tokens?
Rejected by: test_while_the_cache_fills
Costs: 35 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
    if positions.shape != k.shape[2:3]:
        raise ValueError(f'{positions.numel()} positions for {k.shape[2]} keys')
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q.to(wide), k.to(wide))
    places = positions[-q.shape[2]:]
    capped = places[-1:].clamp(max=window + sinks - 1).expand(q.shape[2])
    recent = positions - places[0]
    near = rotate(query, recent[-q.shape[2]:], frequencies) @ rotate(key, recent, frequencies).mT
    far = rotate(query, capped, frequencies) @ rotate(key, positions, frequencies).mT
    sink, distance = (positions < sinks, places[:, None] - positions)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
