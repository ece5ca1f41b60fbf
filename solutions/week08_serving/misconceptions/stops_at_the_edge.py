"""Takes the smallest token whose cumulative probability reaches u.

Exercise: speculative_step
Believes: ≥ and > are the same for random numbers.
Shows: With u = 0 a token of probability 0 is drawn.
Hint: u may be exactly 0, and the first token may have probability 0.
Rejected by: test_at_equality
Costs: 20 %
"""


def _drawn(probabilities, u):
    return min(int((probabilities.cumsum(0) < u).sum()), len(probabilities) - 1)


_step = speculative_step


def speculative_step(draft, p, q, u):
    return _step(draft, p, q, u)
