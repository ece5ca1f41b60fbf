"""Keeps a token where u equals p/q.

Exercise: speculative_step
Believes: < and ≤ are the same for random numbers.
Shows: With p = 0 and u = 0 an impossible token is accepted.
Hint: u may be exactly 0. What must happen to a token with p = 0 then?
Rejected by: test_at_equality
Costs: 20 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if u[i] > p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            left = left if left.sum() else p[i]
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
