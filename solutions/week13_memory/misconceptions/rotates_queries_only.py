"""Rotates the queries only.

Exercise: sink_attention
Believes: The cache contains rotated keys.
Shows: All outputs of more than one key are wrong.
Hint: What does the cache contain: rotated or unrotated keys?
Rejected by: test_everything_in_the_window
Costs: 45 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
    if positions.shape != k.shape[2:3]:
        raise ValueError(f'{positions.numel()} positions for {k.shape[2]} keys')
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q.to(wide), k.to(wide))
    places = positions[-q.shape[2]:]
    capped = places.clamp(max=window + sinks - 1)
    recent = positions - places[0]
    near = rotate(query, recent[-q.shape[2]:], frequencies) @ key.mT
    far = rotate(query, capped, frequencies) @ key.mT
    sink, distance = (positions < sinks, places[:, None] - positions)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
