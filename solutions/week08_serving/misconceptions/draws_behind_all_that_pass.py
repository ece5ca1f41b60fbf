"""Counts all draft tokens that pass, and draws from the row with that number.

Exercise: speculative_step
Believes: Each token is judged on its own.
Shows: Right if no token passes after the first rejection; otherwise `accepted` is too large, and
    the token comes from another position.
Hint: A later draft was written after a token that is now gone. Can it be accepted?
Rejected by: test_refused_in_the_middle
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    rows = torch.arange(len(draft), device=draft.device)
    accepted = int((u[:-1] < p[rows, draft] / q[rows, draft]).sum())
    left = p[accepted]
    if accepted < len(draft):
        left = (left - q[accepted]).clamp(min=0.0)
        left = left / left.sum()
    return accepted, _drawn(left, u[-1])
