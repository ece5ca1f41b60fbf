"""Leaves the product with the table unscaled.

Exercise: relative_attention
Believes: the table is a bias, and a bias is added at the end.
Shows: positions count √d times too much.
Hint: In the formula, which terms are within the parentheses that are divided by √d?
Rejected by: test_values
Costs: 30 %
"""


def relative_attention(q, k, v, relative_keys):
    n, m, far = q.shape[-2], k.shape[-2], len(relative_keys) // 2
    query_place = torch.arange(n, device=q.device).unsqueeze(-1)
    key_place = torch.arange(m, device=q.device)
    row = (key_place - query_place).clamp(-far, far) + far
    with_place = (q @ relative_keys.transpose(0, 1)).gather(-1, row.expand(*q.shape[:-1], m))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + with_place
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
