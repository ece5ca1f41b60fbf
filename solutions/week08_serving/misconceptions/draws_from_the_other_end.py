"""Goes through the tokens from the other end, as 1 - u would.

Exercise: speculative_step
Believes: u and 1 - u have the same distribution.
Shows: Different tokens from the docstring's rule.
Hint: As a distribution it is the same. Which token does the docstring name for a given u?
Rejected by: test_drawn_steps
Costs: 20 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), 1 - u[-1])
    return len(draft), _drawn(p[-1], 1 - u[-1])
