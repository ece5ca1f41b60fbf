"""Looks for the token among the first thousand.

Exercise: speculative_step
Believes: no vocabulary is larger than that.
Shows: in a large vocabulary the last tokens are never drawn.
Hint: How many tokens are there? Take the number from the probabilities.
Rejected by: test_a_large_vocabulary
Costs: 20 %
"""


_step_of_all = speculative_step


def speculative_step(draft, p, q, u):
    accepted, token = _step_of_all(draft, p, q, u)
    return accepted, min(token, 999)
