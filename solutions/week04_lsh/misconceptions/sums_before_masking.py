"""Takes the logsumexp of the scores before they are masked.

Exercise: lsh_attention
Believes: The mask matters for the weights only.
Shows: Right for one round; with several, hidden keys raise the weight of a round.
Hint: The logsumexp should be the logarithm of the denominator of your softmax. Does yours hold the
    same terms?
Rejected by: test_rounds_count_by_what_they_found
Costs: 25 %
"""


def _attend(scores, visible, values):
    logsumexps = scores.logsumexp(dim=-1, keepdim=True)
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1) @ values, logsumexps
