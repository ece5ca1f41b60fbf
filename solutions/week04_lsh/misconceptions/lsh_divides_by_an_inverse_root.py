"""Multiplies the scores by the root of the head size.

Exercise: lsh_attention
Believes: d**-0.5 is the root, and one divides by the root.
Shows: Scores are d times as large as they should be, and the weights almost one-hot.
Hint: How large are the scores before and after your scale? Should it make them larger?
Rejected by: test_values
Costs: 30 %
"""


_right_scores = _scores


def _other_scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** -0.5
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return torch.where(itself, scores - 100000.0, scores)


_right_lsh_attention = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    global _scores
    _scores = _other_scores
    try:
        return _right_lsh_attention(qk, v, rotations, bucket_size, causal)
    finally:
        _scores = _right_scores
