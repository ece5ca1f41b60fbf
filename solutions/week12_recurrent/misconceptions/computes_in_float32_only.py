"""Computes in float32, whatever the inputs are.

Exercise: chunked_linear_attention
Believes: float32 is always enough.
Shows: float64 inputs lose half of their digits.
Hint: What is the dtype of the state for float64 inputs?
Rejected by: test_double_precision
Costs: 20 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.float32
    if state is None:
        state = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide)
    outputs = []
    pieces = (x.to(wide).split(chunk, dim=2) for x in (q, k, v, log_decay))
    for query, key, value, decay in zip(*pieces, strict=True):
        total = decay.cumsum(dim=-1).unsqueeze(-1)
        within = gated_linear_attention(query, key, value, decay)
        outputs.append(within + total.exp() * (query @ state.to(wide)))
        end = total[:, :, -1:]
        state = end.exp() * state + (key * (end - total).exp()).mT @ value
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
