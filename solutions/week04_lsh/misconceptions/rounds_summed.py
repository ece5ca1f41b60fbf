"""Adds the rounds up.

Exercise: combine_rounds
Believes: Every round contributes its part of the output.
Shows: With values of all ones the result is the number of rounds.
Hint: If every round says 1, what should the combination say?
Rejected by: test_agreement_is_kept
Costs: 90 %
"""


def combine_rounds(outputs, logsumexps):
    return outputs.sum(dim=-3)
