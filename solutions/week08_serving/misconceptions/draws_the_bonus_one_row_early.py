"""Draws the token after an accepted draft from the previous row.

Exercise: speculative_step
Believes: p has a row for each token of the draft.
Shows: The token is drawn as if the last draft had been rejected.
Hint: p has k + 1 rows. What does the last one know?
Rejected by: test_all_kept
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[max(len(draft) - 1, 0)], u[-1])
