"""Takes the softmax over the positions.

Exercise: combine_rounds
Believes: The last axis is the one to normalise.
Shows: Weights of the rounds of one position do not sum to 1.
Hint: Fix one position and add up its weights. Which axis has to sum to 1?
Rejected by: test_values
Costs: 40 %
"""


def combine_rounds(outputs, logsumexps):
    weights = logsumexps.softmax(dim=-1).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
