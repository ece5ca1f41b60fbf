"""Uses the same row for keys before and after the query.

Exercise: relative_attention
Believes: only how far away a key is matters.
Shows: the first half of the table is never read.
Hint: The table has 2D + 1 rows, not D + 1. What are the others for?
Rejected by: test_values
Costs: 35 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    row = (key_place - query_place).abs().clamp(max=far) + far
    with_place = (q @ relative_keys.transpose(0, 1)).gather(-1, row.expand(*q.shape[:-1], m))
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
