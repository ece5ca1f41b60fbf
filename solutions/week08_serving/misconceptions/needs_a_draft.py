"""Relies on a first token, and fails for an empty draft.

Exercise: speculative_step
Believes: There is always a draft.
Shows: An error for k = 0.
Hint: Which of your variables have a value if the draft is empty?
Rejected by: test_no_draft
Costs: 20 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return i + 1, _drawn(p[i + 1], u[i + 1])
