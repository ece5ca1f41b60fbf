"""Returns the scores as the weights.

Exercise: grouped_query_attention
Believes: Scores and weights are two words for one thing.
Shows: Rows do not sum to 1.
Hint: What does the softmax make of the scores? Those average the values, and those are
    required.
Rejected by: test_groups_of_neighbours
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    output, _ = _grouped(q, k, v, mask)
    each = q.shape[1] // k.shape[1]
    grouped = q.reshape(q.shape[0], k.shape[1], each * q.shape[2], q.shape[3])
    scores = grouped @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return output, scores.reshape(*q.shape[:3], k.shape[2])
