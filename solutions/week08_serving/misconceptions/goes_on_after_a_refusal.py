"""Counts all tokens of the draft that pass, also those after a refusal.

Exercise: speculative_step
Believes: Each token is judged on its own.
Shows: accepted is too large where a later token passes.
Hint: A later draft was written after a token that is now gone. Can it be accepted?
Rejected by: test_refused_in_the_middle
Costs: 30 %
"""


def speculative_step(draft, p, q, u):
    rows = range(len(draft))
    kept = [bool(u[i] < p[i, draft[i]] / q[i, draft[i]]) for i in rows]
    if all(kept):
        return len(draft), _drawn(p[-1], u[-1])
    first = kept.index(False)
    left = (p[first] - q[first]).clamp(min=0.0)
    return sum(kept), _drawn(left / left.sum(), u[-1])
