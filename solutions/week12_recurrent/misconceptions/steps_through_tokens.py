"""Updates the state token by token.

Exercise: chunked_linear_attention
Believes: The recurrence is the fastest form.
Shows: Results are correct, but there are several operations for each token.
Hint: How many operations do you execute for one chunk of 128?
Rejected by: test_steps
Costs: 70 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    a, b, c, g = (x.to(wide) for x in (q, k, v, log_decay))
    s = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide) if state is None else state
    rows = []
    for t in range(q.shape[2]):
        s = g[:, :, t, None, None].exp() * s + b[:, :, t, :, None] * c[:, :, t, None, :]
        rows.append((a[:, :, t, None] @ s)[:, :, 0])
    return torch.stack(rows, 2).to(v.dtype), s
