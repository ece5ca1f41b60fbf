"""Compares each chunk with all previous keys.

Exercise: chunked_linear_attention
Believes: A chunk of queries needs all keys so far.
Shows: Outputs are correct, but work grows with T².
Hint: What does the state save you from computing again?
Rejected by: test_work
Costs: 45 %
"""

def chunked_linear_attention(q, k, v, log_decay, chunk=64, state=None):
    if chunk < 1:
        raise ValueError(f'chunk = {chunk} is below 1')
    wide = torch.promote_types(v.dtype, torch.float32)
    a, b, c = (x.to(wide) for x in (q, k, v))
    total = log_decay.to(wide).cumsum(-1)
    s = k.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1], dtype=wide) if state is None else state
    rows = []
    for start in range(0, q.shape[2], chunk):
        stop = min(start + chunk, q.shape[2])
        later = torch.ones(stop - start, stop, dtype=torch.bool, device=q.device).triu(start + 1)
        gap = (total[:, :, start:stop, None] - total[:, :, None, :stop]).masked_fill(later, -torch.inf)
        part = total[:, :, start:stop, None].exp() * (a[:, :, start:stop] @ s)
        rows.append(part + (a[:, :, start:stop] @ b[:, :, :stop].mT * gap.exp()) @ c[:, :, :stop])
    end = total[:, :, -1:, None]
    s = end.exp() * s + (b * (end - total.unsqueeze(-1)).exp()).mT @ c
    return torch.cat(rows, 2).to(v.dtype), s
