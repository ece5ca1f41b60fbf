"""Keeps a token where p is at least q, and refuses it otherwise.

Exercise: speculative_step
Believes: The large model decides which token is better.
Shows: Too many refusals: chance plays no part.
Hint: With p/q = 0.8 the token is accepted in 8 of 10 cases. Which number decides?
Rejected by: test_drawn_steps
Costs: 35 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if p[i, token] < q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
