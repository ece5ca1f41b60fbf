"""Exchanges the rows for keys before and after the query.

Exercise: relative_attention
Believes: a distance has no sign, or its sign is a matter of taste.
Shows: the rows for keys before and after the query change places.
Hint: To which row of the table does the key right after the query belong? Try a table in which only
    that row is not zero.
Rejected by: test_values
Costs: 35 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    row = (query_place - key_place).clamp(-far, far) + far
    with_place = (q @ relative_keys.transpose(0, 1)).gather(-1, row.expand(*q.shape[:-1], m))
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
