"""Lets the state decay during the padding of the last chunk.

Exercise: chunked_linear_attention
Believes: Padding has no effect.
Shows: Outputs are correct, but the state decays during the padding.
Hint: Which log_decay leaves a state as it is?
Rejected by: test_last_chunk_is_shorter
Costs: 30 %
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
        end = total[:, :, -1:] - (chunk - decay.shape[-1] if len(outputs) > 1 else 0)
        state = end.exp() * state + (key * (end - total).exp()).mT @ value
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
