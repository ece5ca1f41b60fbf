"""Subtracts the largest logsumexp in place and so changes the argument.

Exercise: combine_rounds
Believes: An argument is a local copy.
Shows: Right result, but the logsumexps of the caller are changed.
Hint: Which of your operations ends in an underscore or in -=? It writes into the tensor of the
    caller.
Rejected by: test_values
Costs: 20 %
"""


def combine_rounds(outputs, logsumexps):
    with torch.no_grad():
        logsumexps -= logsumexps.amax(dim=-2, keepdim=True)
    weights = logsumexps.softmax(dim=-2).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
