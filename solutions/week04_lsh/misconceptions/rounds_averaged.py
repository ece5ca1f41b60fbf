"""Gives every round the same weight.

Exercise: combine_rounds
Believes: All rounds are equally good.
Shows: A round in which a position is alone counts as much as one with its best key.
Hint: A round that found more has a larger softmax denominator. Where in the arguments is that kept?
Rejected by: test_values
Costs: 90 %
Belief: averaged_rounds
"""


def combine_rounds(outputs, logsumexps):
    return outputs.mean(dim=-3)
