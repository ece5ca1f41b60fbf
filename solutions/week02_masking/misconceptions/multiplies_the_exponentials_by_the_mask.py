"""Exponentiates hidden scores as well and multiplies the exponentials by the mask.

Exercise: masked_softmax
Believes: what is multiplied by zero is gone.
Shows: right for moderate scores; a hidden score that is much larger than the others, inf or NaN spoils its whole row.
Hint: Hide a score that is NaN, or a hundred above the others. At which steps does it still take part?
Rejected by: test_hidden_scores_do_not_count
Costs: 40 %
"""


def masked_softmax(scores, mask, dim=-1):
    powers = (scores - scores.amax(dim=dim, keepdim=True)).exp() * mask
    total = powers.sum(dim=dim, keepdim=True)
    return powers / total.masked_fill(total == 0, 1.0)
