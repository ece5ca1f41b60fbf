"""Looks up a vector of d numbers for every pair of a query and a key.

Exercise: relative_attention
Believes: the table has to be spread out before it can be used.
Shows: right values; a tensor of n·m·d numbers, which for long sequences does not fit.
Hint: There are only 2D + 1 different rows. What could be computed once per row, before anything is looked up?
Rejected by: test_memory
Costs: 20 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    rows = relative_keys[(key_place - query_place).clamp(-far, far) + far]  # (n, m, d)
    with_place = (rows @ q.unsqueeze(-1)).squeeze(-1)
    scores = (q @ k.transpose(-2, -1) + with_place) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
