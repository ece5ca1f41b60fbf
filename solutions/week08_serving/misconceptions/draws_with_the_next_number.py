"""Draws with the random number after the refusal's.

Exercise: speculative_step
Believes: Random numbers are used in order.
Shows: Right if the last token of the draft is refused, or none.
Hint: The docstring names the entry of u that draws, whenever the refusal comes.
Rejected by: test_the_last_random_number_draws
Costs: 20 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[i + 1])
    return len(draft), _drawn(p[-1], u[-1])
