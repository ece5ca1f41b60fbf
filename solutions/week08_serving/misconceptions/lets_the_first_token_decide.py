"""Keeps the whole draft if its first token is kept.

Exercise: speculative_step
Believes: The draft is accepted or rejected as a whole.
Shows: Tokens after a refusal are kept as long as the first token passes.
Hint: Each row of p and q belongs to one token. Which rows does your step compare?
Rejected by: test_refused_in_the_middle
Costs: 30 %
"""

_step = speculative_step


def speculative_step(draft, p, q, u):
    accepted, token = _step(draft[:1], p[:2], q[:1], torch.stack([u[0], u[-1]]))
    return (len(draft), _drawn(p[-1], u[-1])) if accepted else (0, token)
