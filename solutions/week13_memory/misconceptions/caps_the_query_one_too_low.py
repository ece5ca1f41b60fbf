"""Puts the query one position too close to the sinks.

Exercise: sink_attention
Believes: Positions within the cache end at window + sinks - 2.
Shows: Outputs are wrong if there are sinks and the cache is full.
Hint: A full cache of 2 sinks and a window of 3: at which of the positions 0 to 4 is the query?
Rejected by: test_sinks
Costs: 30 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
    if positions.shape != k.shape[2:3]:
        raise ValueError(f'{positions.numel()} positions for {k.shape[2]} keys')
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q.to(wide), k.to(wide))
    places = positions[-q.shape[2]:]
    capped = places.clamp(max=window + sinks - 2)
    recent = positions - places[0]
    near = rotate(query, recent[-q.shape[2]:], frequencies) @ rotate(key, recent, frequencies).mT
    far = rotate(query, capped, frequencies) @ rotate(key, positions, frequencies).mT
    sink, distance = (positions < sinks, places[:, None] - positions)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
