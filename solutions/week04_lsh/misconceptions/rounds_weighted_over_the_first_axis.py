"""Takes the softmax over the first axis, which is the rounds only where there are no leading
dimensions.

Exercise: combine_rounds
Believes: The rounds are axis 0.
Shows: Right without a batch; with one, the sequences of the batch compete.
Hint: Count the axis of rounds from the end of the shape.
Rejected by: test_any_leading_dimensions
Costs: 25 %
"""


def combine_rounds(outputs, logsumexps):
    weights = logsumexps.softmax(dim=0).to(outputs.dtype)
    return (weights.unsqueeze(-1) * outputs).sum(dim=-3)
