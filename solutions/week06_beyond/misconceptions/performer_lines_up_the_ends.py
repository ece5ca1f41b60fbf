"""Lets the last query see all keys if `causal` is set, for any lengths.

Exercise: performer_attention
Believes: the last query aligns with the last key.
Shows: right where n = m; elsewhere queries see too many keys or too few.
Hint: From where does the docstring count queries and keys?
Rejected by: test_causal_of_unequal_lengths
Costs: 20 %
"""

_performer = performer_attention


def performer_attention(q, k, v, projection, causal=False):
    if not causal:
        return _performer(q, k, v, projection)
    n, m = q.shape[-2], k.shape[-2]
    if n >= m:
        q_all = torch.cat([q[..., n - m :, :], q[..., :0, :]], dim=-2)
        seen = _performer(q_all, k, v, projection, True)
        first = _performer(q[..., : n - m, :], k[..., :1, :], v[..., :1, :], projection, True)
        return torch.cat([first, seen], dim=-2)
    padded = torch.cat([q[..., :1, :].expand(*q.shape[:-2], m - n, q.shape[-1]), q], dim=-2)
    return _performer(padded, k, v, projection, True)[..., m - n :, :]
