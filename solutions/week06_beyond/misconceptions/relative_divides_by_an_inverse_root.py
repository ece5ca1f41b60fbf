"""Multiplies the scores by the root of the head size.

Exercise: relative_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
"""


def relative_attention(q, k, v, relative_keys):
    d = q.shape[-1]
    _, right = q, len(relative_keys) // 2
    row = torch.arange(k.shape[-2], device=q.device) - torch.arange(
        q.shape[-2], device=q.device
    ).unsqueeze(-1)
    row = row.clamp(-right, right) + right
    table = q @ relative_keys.transpose(0, 1)
    scores = q @ k.transpose(-2, -1) + table.gather(-1, row.expand(*q.shape[:-1], k.shape[-2]))
    weights = torch.softmax(scores / d**-0.5, dim=-1)
    return weights @ v, weights
