"""Cuts the gradient that should flow through the weights of the rounds.

Exercise: lsh_attention
Believes: The logsumexps only choose between rounds.
Shows: Right values; with several rounds the gradient of qk is incomplete.
Hint: The logsumexps are computed from qk. Do they still know it when you combine the rounds?
Rejected by: test_gradients_of_several_rounds
Costs: 20 %
Belief: detached_round_weights
"""


def _attend(scores, visible, values):
    scores = scores.masked_fill(~visible, -torch.inf)
    return scores.softmax(dim=-1) @ values, scores.detach().logsumexp(dim=-1, keepdim=True)
