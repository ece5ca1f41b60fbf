"""Keeps a token while u < q/p.

Exercise: speculative_step
Believes: The small model's probability over the large one's.
Shows: Tokens that the large model finds unlikely are accepted.
Hint: If the large model gives the token probability 0, should it be accepted?
Rejected by: test_drawn_steps
Costs: 35 %
"""


def speculative_step(draft, p, q, u):
    for i, token in enumerate(draft.tolist()):
        if not u[i] < q[i, token] / p[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            left = left if left.sum() else p[i]
            return i, _drawn(left / left.sum(), u[-1])
    return len(draft), _drawn(p[-1], u[-1])
