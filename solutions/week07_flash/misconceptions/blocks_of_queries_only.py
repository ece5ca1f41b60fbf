"""Cuts the queries into blocks, and lets each block of queries meet all keys at once.

Exercise: tiled_attention
Believes: A table of scores for a few queries is small, so an ordinary softmax does.
Shows: The right values, and no table of n x m scores. But a row of scores is as long as there are keys, and nothing
    is ever rescaled.
Hint: `block_size` is a number of keys. What do you need to remember of the earlier keys when the next block comes?
Rejected by: test_keys_come_in_blocks
Costs: 45 %
Belief: queries_in_blocks
"""


def tiled_attention(q, k, v, block_size=64, causal=False):
    dtype = torch.promote_types(q.dtype, torch.float32)
    outputs, logsumexps = [], []
    for start in range(0, q.shape[-2], 8):
        queries = q[..., start : start + 8, :].to(dtype)
        scores = queries @ k.to(dtype).transpose(-2, -1) / math.sqrt(q.shape[-1])
        if causal:
            positions = start + torch.arange(queries.shape[-2], device=q.device)
            later = torch.arange(k.shape[-2], device=q.device) > positions[:, None]
            scores = scores.masked_fill(later, -torch.inf)
        outputs.append(torch.softmax(scores, dim=-1) @ v.to(dtype))
        logsumexps.append(torch.logsumexp(scores, dim=-1))
    return torch.cat(outputs, dim=-2).to(q.dtype), torch.cat(logsumexps, dim=-1).to(q.dtype)
