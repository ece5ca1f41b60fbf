"""Draws from max(q - p, 0) after a refusal.

Exercise: speculative_step
Believes: p and q are just names.
Shows: The refused token itself may come.
Hint: Which of the two models would rather have had another token? What does it want more of?
Rejected by: test_refused_at_once
Costs: 45 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (q[i] - p[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
