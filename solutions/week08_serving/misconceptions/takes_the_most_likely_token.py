"""Always takes the most likely token.

Exercise: speculative_step
Believes: The best token is the best.
Shows: The same token for any u.
Hint: What comes out should be *distributed* as p. What is u_k for?
Rejected by: test_drawn_steps
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token] / q[i, token]:
            return i, int((p[i] - q[i]).argmax())
    return len(draft), int(p[-1].argmax())
