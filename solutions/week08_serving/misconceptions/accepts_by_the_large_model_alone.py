"""Compares u with p alone.

Exercise: speculative_step
Believes: The large model decides, so its probability does.
Shows: Too few drafts are accepted, even from a draft model that equals the large one.
Hint: If p and q are the same, every draft should be accepted. What has to be divided by what?
Rejected by: test_all_kept
Costs: 40 %
"""


def speculative_step(draft: torch.Tensor, p: torch.Tensor, q: torch.Tensor, u: torch.Tensor) -> tuple[int, int]:
    for i, token in enumerate(draft.tolist()):
        if not u[i] < p[i, token]:
            left = (p[i] - q[i]).clamp(min=0.0)
            return (i, _drawn(left / left.sum(), u[-1]))
    return (len(draft), _drawn(p[-1], u[-1]))
