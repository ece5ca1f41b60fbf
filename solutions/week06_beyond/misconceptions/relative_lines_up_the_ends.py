"""Counts queries and keys from their ends, as if the last ones were aligned.

Exercise: relative_attention
Believes: where there are fewer queries than keys, the queries are the last ones.
Shows: right for n = m; otherwise all distances are off by m - n.
Hint: Both are counted from 0 here. Which key is at distance 0 from query 0?
Rejected by: test_more_queries_or_keys
Costs: 25 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    row = (key_place - query_place - (m - n)).clamp(-far, far) + far
    with_place = (q @ relative_keys.transpose(0, 1)).gather(-1, row.expand(*q.shape[:-1], m))
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
