"""Weights the rounds by their best score.

Exercise: lsh_attention
Believes: The best key found says how good a round was.
Shows: Right for one round; a round with many good keys counts no more than one with a single one.
Hint: Two rounds have the same best score, but one found ten more good keys. Which number
    distinguishes them?
Rejected by: test_rounds_count_by_what_they_found
Costs: 25 %
"""


def _attend(scores, visible, values):
    scores = scores.masked_fill(~visible, -torch.inf)
    return scores.softmax(dim=-1) @ values, scores.amax(dim=-1, keepdim=True)
