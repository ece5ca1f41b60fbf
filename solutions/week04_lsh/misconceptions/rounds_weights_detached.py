"""Cuts the gradient that should flow through the weights of the rounds.

Exercise: combine_rounds
Believes: The weights are constants.
Shows: Right values; logsumexps get no gradient.
Hint: The logsumexps depend on the queries and keys. Should training feel that?
Rejected by: test_gradients
Costs: 25 %
Belief: detached_round_weights
"""


def combine_rounds(outputs, logsumexps):
    weights = logsumexps.detach().softmax(dim=-2).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
