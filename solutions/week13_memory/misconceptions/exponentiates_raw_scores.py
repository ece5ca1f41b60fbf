"""Computes the softmax without subtracting the maximum.

Exercise: sink_attention
Believes: Scores are small.
Shows: Large scores overflow to NaN.
Hint: What is exp(1000) in float32?
Rejected by: test_large_scores
Costs: 25 %
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
    sink, distance = (positions < sinks, places[:, None] - positions)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = scores.exp() * visible
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights @ v.to(wide)).to(v.dtype)
