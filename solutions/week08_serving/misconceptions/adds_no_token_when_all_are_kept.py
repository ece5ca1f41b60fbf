"""Returns the last draft if all were accepted.

Exercise: speculative_step
Believes: If nothing was refused there is nothing to draw.
Shows: The token that comes for free is lost, and the last one is counted twice.
Hint: The large model has processed the whole draft. What does it say about the next token?
Rejected by: test_all_kept
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), int(draft[-1]) if len(draft) else _drawn(p[-1], u[-1])
