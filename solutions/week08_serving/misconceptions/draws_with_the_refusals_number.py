"""Draws with the random number that led to the refusal.

Exercise: speculative_step
Believes: One number per step.
Shows: The token depends on the number that decided about the refusal.
Hint: That number is large, because it caused the rejection. Which entry of u is still unused?
Rejected by: test_the_last_random_number_draws
Costs: 25 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[i])
    return len(draft), _drawn(p[-1], u[-1])
