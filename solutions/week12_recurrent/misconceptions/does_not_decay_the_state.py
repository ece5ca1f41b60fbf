"""Never decays the old state between chunks.

Exercise: chunked_linear_attention
Believes: The state is only added to.
Shows: The outputs of the first two chunks are correct; later outputs and the last state are not.
Hint: After two chunks, by what has the first key decayed in your state?
Rejected by: test_last_state
Costs: 40 %
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
        state = state + (key * (end - total).exp()).mT @ value
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
