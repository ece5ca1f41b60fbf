"""Decides about the first token of the draft, and keeps no other.

Exercise: speculative_step
Believes: A step judges one token.
Shows: At most one token is accepted, however long the draft is.
Hint: How many tokens does the large model judge in one call? Why is the draft longer than one?
Rejected by: test_all_kept
Costs: 35 %
"""

_step = speculative_step


def speculative_step(draft, p, q, u):
    if len(draft) < 2:
        return _step(draft, p, q, u)
    return _step(draft[:1], p[:2], q[:1], torch.stack([u[0], u[-1]]))
