"""Updates the state before the chunk reads it.

Exercise: chunked_linear_attention
Believes: The state has to be up to date.
Shows: Keys of the chunk are counted twice, and later keys are visible.
Hint: Which tokens may be in the state that a chunk reads?
Rejected by: test_chunks
Costs: 45 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    pieces = (x.to(wide).split(chunk, dim=2) for x in (q, k, v, log_decay))
    for query, key, value, decay in zip(*pieces, strict=True):
        total = decay.cumsum(dim=-1).unsqueeze(-1)
        within = gated_linear_attention(query, key, value, decay)
        end = total[:, :, -1:]
        state = end.exp() * state + (key * (end - total).exp()).mT @ value
        outputs.append(within + total.exp() * (query @ state))
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
