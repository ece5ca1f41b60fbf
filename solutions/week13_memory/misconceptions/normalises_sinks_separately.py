"""Uses one softmax for the window and one for the sinks.

Exercise: sink_attention
Believes: Sinks are a separate attention.
Shows: Weights of window and sinks sum to 2.
Hint: What do the weights of one query sum to?
Rejected by: test_equal_values
Costs: 35 %
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
    weights = sum((torch.nan_to_num(torch.softmax(scores.masked_fill(~(visible & part), -torch.inf), dim=-1)) for part in (sink, ~sink)))
    return (weights @ v.to(wide)).to(v.dtype)
