"""Answers in float32 whatever the outputs are.

Exercise: combine_rounds
Believes: what was computed in float32 stays there.
Shows: outputs in half precision come back as float32, and so do those in double precision, with half their digits.
Hint: Compare the dtype of the result with that of the outputs, for torch.float64 and torch.float16.
Rejected by: test_dtypes
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    scores = logsumexps.float()
    empty = torch.isneginf(scores).all(dim=-2, keepdim=True)
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-2).masked_fill(empty, 0.0)
    return (weights.unsqueeze(-1) * outputs.float()).sum(dim=-3)
