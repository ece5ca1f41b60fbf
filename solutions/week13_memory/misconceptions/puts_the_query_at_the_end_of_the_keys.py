"""Measures distances in the passed tensor.

Exercise: sink_attention
Believes: Neighbours in the cache are neighbours in the text.
Shows: Keys that have left the window are visible if others are missing between.
Hint: Keys at the positions 0, 1 and 90, a window of 3 and no sinks: which does the query at 90 see?
Rejected by: test_sinks
Costs: 30 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
    if positions.shape != k.shape[2:3]:
        raise ValueError(f'{positions.numel()} positions for {k.shape[2]} keys')
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q.to(wide), k.to(wide))
    places = positions[-q.shape[2]:]
    capped = places.clamp(max=window + sinks - 1)
    recent = positions - places[0]
    near = rotate(query, recent[-q.shape[2]:], frequencies) @ rotate(key, recent, frequencies).mT
    far = rotate(query, capped, frequencies) @ rotate(key, positions, frequencies).mT
    index = torch.arange(k.shape[2], device=k.device)
    sink, distance = (index < sinks - 1, index[-q.shape[2]:][:, None] - index)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
