"""Multiplies the table by the key.

Exercise: relative_attention
Believes: the table belongs to the keys, so it is multiplied by the keys.
Shows: right sizes where n = m, wrong scores.
Hint: Multiply out q · (k + a). Which vector does a meet?
Rejected by: test_values
Costs: 35 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device)
    key_place = torch.arange(m, device=q.device).unsqueeze(-1)
    row = (key_place - query_place).clamp(-far, far) + far  # (m, n)
    with_table = k @ relative_keys.transpose(0, 1)
    with_place = with_table.gather(-1, row.expand(*k.shape[:-1], n)).transpose(-2, -1)
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
