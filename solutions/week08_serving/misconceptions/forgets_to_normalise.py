"""Draws from max(p - q, 0) without normalising it.

Exercise: speculative_step
Believes: Differences of probabilities are probabilities.
Shows: The sum stays below 1, so large u find no token but the last.
Hint: What does max(p - q, 0) sum to?
Rejected by: test_refused_at_once
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            return i, _drawn((p[i] - q[i]).clamp(min=0.0), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
