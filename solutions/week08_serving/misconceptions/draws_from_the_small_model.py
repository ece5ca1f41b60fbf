"""Draws from q after a refusal.

Exercise: speculative_step
Believes: The small model tries again.
Shows: The result follows the small model.
Hint: Why was the token refused? Whose distribution should come out in the end?
Rejected by: test_refused_at_once
Costs: 45 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            return i, _drawn(q[i], u[-1])
    return len(draft), _drawn(p[-1], u[-1])
