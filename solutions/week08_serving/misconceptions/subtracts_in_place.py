"""Changes the caller's probabilities in place.

Exercise: speculative_step
Believes: The caller does not need p afterwards.
Shows: The caller's probabilities are changed.
Hint: An operator such as `-=`, or a method that ends in _, writes into the caller's tensor. Which
    of yours does?
Rejected by: test_drawn_steps
Costs: 25 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = p[i]
            left -= q[i]
            left.clamp_(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
