"""Keeps and refuses tokens the wrong way round.

Exercise: speculative_step
Believes: A token is refused while u is less than p / q.
Shows: Drafts that the large model likes are thrown away.
Hint: Try a draft that the large model is sure of: p / q is more than 1. Is it accepted for any u?
Rejected by: test_all_kept
Costs: 45 %
"""


def speculative_step(draft: torch.Tensor, p: torch.Tensor, q: torch.Tensor, u: torch.Tensor) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if u[i] < p[i, token] / q[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return (i, _drawn(left / left.sum(), u[-1]))
    return (len(draft), _drawn(p[-1], u[-1]))
