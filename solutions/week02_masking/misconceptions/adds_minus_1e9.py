"""Adds a large negative number to hidden scores, so hidden inf or NaN stays.

Exercise: masked_softmax
Believes: any score plus a huge negative number is hugely negative.
Shows: right for ordinary scores; NaN next to a hidden NaN or inf, and in empty rows of float16.
Hint: What is NaN plus a number? Replacing a score is something other than lowering it.
Rejected by: test_hidden_scores_do_not_count
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores + (~mask).to(scores.dtype) * -1e9, dim=dim)
    return weights * mask
