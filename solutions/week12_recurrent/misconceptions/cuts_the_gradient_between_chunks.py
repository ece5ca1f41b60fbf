"""Lets no gradient flow from one chunk to an earlier one.

Exercise: chunked_linear_attention
Believes: Each chunk is trained on its own.
Shows: Values are correct; gradients do not reach earlier chunks.
Hint: Does the second chunk depend on keys of the first?
Rejected by: test_gradients
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
        end = total[:, :, -1:]
        state = end.exp() * state + (key * (end - total).exp()).mT @ value
        state = state.detach()
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
