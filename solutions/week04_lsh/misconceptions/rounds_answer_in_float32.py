"""Returns float32 for every dtype of the outputs.

Exercise: combine_rounds
Believes: what was computed in float32 stays there.
Shows: returns float32 for outputs in half precision and, with half the digits, in double precision.
Hint: Compare the dtype of the result with that of the outputs, for torch.float64 and torch.float16.
Rejected by: test_dtypes
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    scores = logsumexps.float()
    empty = torch.isneginf(scores).all(dim=-2, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-2).masked_fill(empty, 0.0)
    return (weights.unsqueeze(-1) * outputs.float()).sum(dim=-3)
