"""Gives later keys a score of 0, or one very close to it.

Exercise: tiled_attention
Believes: a number close to zero hides a key.
Shows: with causal, later keys get the weight of a score of 0.
Hint: What is the exponential of the score that your hidden keys get? Which scores become weights
    of 0?
Rejected by: test_causal
Costs: 30 %
"""

def _scores(queries, keys, start, causal):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if causal:
        query_positions = torch.arange(queries.shape[-2], device=queries.device)
        key_positions = start + torch.arange(keys.shape[-2], device=keys.device)
        scores = scores.masked_fill(key_positions > query_positions[:, None], -1e-12)
    return scores
