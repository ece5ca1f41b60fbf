"""Decays the new keys of a chunk once more, together with the old state.

Exercise: chunked_linear_attention
Believes: The order of adding and decaying does not matter.
Shows: New keys are weakened twice.
Hint: By what is the last key of the chunk multiplied in your state?
Rejected by: test_last_state
Costs: 35 %
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
        outputs.append(within + total.exp() * (query @ state))
        end = total[:, :, -1:]
        state = end.exp() * (state + (key * (end - total).exp()).mT @ value)
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
