"""Does not check the positions.

Exercise: sink_attention
Believes: The cache returns the right ones.
Shows: A wrong number of positions raises no error, or a different one.
Hint: What happens in your program with one position too few?
Rejected by: test_refuses_other_positions
Costs: 20 %
"""

def sink_attention(q, k, v, positions, window, sinks, frequencies):
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
    weights = torch.softmax(scores.masked_fill(~visible, -torch.inf), dim=-1)
    return (weights @ v.to(wide)).to(v.dtype)
