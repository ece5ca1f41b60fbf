"""Multiplies the scores by the root of the head size.

Exercise: tiled_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: Scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
"""


_attend_rightly = _scores


def tiled_attention(q, k, v, block_size=64, causal=False):
    def other_scores(queries, keys, start, causal):
        scores = _attend_rightly(queries, keys, start, causal)
        return scores * queries.shape[-1]

    global _scores
    before, _scores = _scores, other_scores
    try:
        output, logsumexp = _attend(q, k, v, block_size, causal)
    finally:
        _scores = before
    return output.to(q.dtype), logsumexp.to(q.dtype)
