"""Draws from |p - q|, normalised.

Exercise: speculative_step
Believes: The difference is the difference.
Shows: Tokens that the draft had too much of come again.
Hint: A token with q > p was drafted too often already. What is left for it?
Rejected by: test_refused_at_once
Costs: 30 %
Same as: draws_from_what_the_draft_had_too_much because both give the draft's surplus another chance
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).abs()
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
