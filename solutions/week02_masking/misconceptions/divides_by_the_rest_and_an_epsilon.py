"""Divides the remaining weights by their sum plus a small number, which distorts small sums.

Exercise: masked_softmax
Believes: a small number in the denominator only prevents 0/0.
Shows: right until hidden scores are much larger than the allowed ones; then the weights shrink to
    0.
Hint: Let a hidden score be twenty above the allowed ones and add up the row. At which step should
    hidden scores be left out?
Rejected by: test_hidden_scores_may_be_the_largest
Costs: 20 %
"""


def masked_softmax(scores, mask, dim=-1):
    weights = torch.softmax(scores, dim=dim) * mask
    return weights / (weights.sum(dim=dim, keepdim=True) + 1e-9)
