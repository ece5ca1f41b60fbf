"""Makes the scores in the half precision of the inputs.

Exercise: lsh_attention
Believes: The dtype of the inputs is good enough for the scores.
Shows: float16 cannot represent 1e5: a position that is alone becomes NaN.
Hint: What is the largest number of float16? The docstring names the least dtype for the
    scores.
Rejected by: test_half_precision
Costs: 15 %
Belief: work_in_half_precision
"""

_scores_as_they_should_be = _scores
_attention_as_it_should_be = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    global _scores

    def _scores(queries, keys, positions):
        scores = (queries.to(qk.dtype) @ keys.to(qk.dtype).transpose(-2, -1)) / math.sqrt(
            queries.shape[-1]
        )
        itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
        return torch.where(itself, scores - 1e5, scores).to(queries.dtype)

    try:
        return _attention_as_it_should_be(qk, v, rotations, bucket_size, causal)
    finally:
        _scores = _scores_as_they_should_be
