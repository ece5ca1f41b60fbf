"""Stores a state for each token.

Exercise: chunked_linear_attention
Believes: A running sum of outer products avoids the loop.
Shows: Memory is T · d_k · d_v.
Hint: How many elements has your largest tensor for d_k = d_v = 32 and T = 512?
Rejected by: test_memory
Costs: 45 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    s = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide) if state is None else state
    everything = (k.to(wide).unsqueeze(-1) * v.to(wide).unsqueeze(-2))
    place, rows = 0, []
    for a, c in zip(q.to(wide).split(chunk, 2), log_decay.to(wide).split(chunk, 2)):
        size = c.shape[-1]
        total = c.cumsum(-1)
        later = torch.ones(size, size, dtype=torch.bool, device=c.device).triu(1)
        gap = (total.unsqueeze(-1) - total.unsqueeze(-2)).masked_fill(later, -torch.inf).exp()
        states = torch.einsum('bhij,bhjkv->bhikv', gap, everything[:, :, place:place + size])
        states = states + total.exp()[..., None, None] * s.unsqueeze(2)
        rows.append(torch.einsum('bhik,bhikv->bhiv', a, states))
        s, place = states[:, :, -1], place + size
    return torch.cat(rows, 2).to(v.dtype), s
