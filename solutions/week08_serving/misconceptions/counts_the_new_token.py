"""Counts the drawn token as accepted.

Exercise: speculative_step
Believes: accepted is how many tokens come out.
Shows: One more than the number of accepted drafts.
Hint: How many tokens *of the draft* are accepted if the first is rejected?
Rejected by: test_all_kept
Costs: 25 %
"""

_step = speculative_step


def speculative_step(draft, p, q, u):
    accepted, token = _step(draft, p, q, u)
    return accepted + 1, token
