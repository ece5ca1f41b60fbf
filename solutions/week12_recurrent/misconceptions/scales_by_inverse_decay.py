"""Multiplies keys by exp(-sum) within a chunk.

Exercise: chunked_linear_attention
Believes: A chunk is short, so the factor stays small.
Shows: Infinite values with strong decay.
Hint: How large is exp(-sum) if a chunk of 16 has logarithms of -50 each?
Rejected by: test_strong_decay
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
        within = ((query * total.exp()) @ (key * (-total).exp()).mT).tril() @ value
        outputs.append(within + total.exp() * (query @ state))
        end = total[:, :, -1:]
        state = end.exp() * state + (key * (end - total).exp()).mT @ value
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
