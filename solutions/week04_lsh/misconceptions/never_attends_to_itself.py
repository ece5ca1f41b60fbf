"""Forbids a position to attend to itself even when it is alone.

Exercise: lsh_attention
Believes: Lowering means masking.
Shows: Zeros (or NaN) for a position that is alone in its bucket.
Hint: A very low score still wins where it is the only one. What happens to a score of minus
    infinity there?
Rejected by: test_alone_it_attends_to_itself
Costs: 20 %
"""

_attend_also_to_itself = _attend


def _scores(queries, keys, positions):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    itself = positions == _look_back(positions, nothing=-1).transpose(-2, -1)
    return scores.masked_fill(itself, -torch.inf)


def _attend(scores, visible, values):
    outputs, logsumexps = _attend_also_to_itself(scores, visible, values)
    return outputs.masked_fill(logsumexps == -torch.inf, 0.0), logsumexps
