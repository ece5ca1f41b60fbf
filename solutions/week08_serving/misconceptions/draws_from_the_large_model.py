"""Draws from p after a refusal.

Exercise: speculative_step
Believes: The large model's own distribution is what we want.
Shows: Tokens that the draft likes come too often.
Hint: What was drafted and kept has had its share already. What is left of p?
Rejected by: test_refused_at_once
Costs: 35 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            return i, _drawn(p[i], u[-1])
    return len(draft), _drawn(p[-1], u[-1])
