"""Computes scores in the dtype of the inputs.

Exercise: sink_attention
Believes: A conversion at the end is enough.
Shows: In float16, large scores overflow.
Hint: In which dtype is your product of queries and keys computed?
Rejected by: test_scores_in_halves
Costs: 20 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
    if positions.shape != k.shape[2:3]:
        raise ValueError(f'{positions.numel()} positions for {k.shape[2]} keys')
    wide = torch.promote_types(v.dtype, torch.float32)
    query, key = (q, k)
    places = positions[-q.shape[2]:]
    capped = places.clamp(max=window + sinks - 1)
    recent = positions - places[0]
    near = rotate(query, recent[-q.shape[2]:], frequencies) @ rotate(key, recent, frequencies).mT
    far = rotate(query, capped, frequencies) @ rotate(key, positions, frequencies).mT
    sink, distance = (positions < sinks, places[:, None] - positions)
    visible = (distance >= 0) & (sink | (distance < window))
    scores = torch.where(sink, far, near) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights.to(v.dtype) @ v).to(v.dtype)
