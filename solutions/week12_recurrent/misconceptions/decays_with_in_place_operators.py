"""Writes into the given state, with an operator such as `*=`.

Exercise: chunked_linear_attention
Believes: `state *= x` makes a new tensor.
Shows: The outputs are correct, but the state that was passed has changed; with gradients, `*=` raises an error.
Hint: Which tensor does an operator such as `*=` write to? Call it twice with the same state.
Rejected by: test_from_a_state
Costs: 25 %
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
        state *= end.exp()
        state += (key * (end - total).exp()).mT @ value
    return (torch.cat(outputs, dim=2).to(v.dtype), state)
