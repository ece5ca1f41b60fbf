"""Creates a tensor on the CPU.

Exercise: speculative_step
Believes: torch moves tensors together by itself.
Shows: An error on a GPU.
Hint: Every new tensor needs a device: that of p.
Rejected by: test_device
Costs: 15 %
"""


def speculative_step(draft, p, q, u):
    rows = torch.arange(len(draft))
    kept = u[:-1] < p[:-1].gather(1, draft[:, None])[:, 0] / q.gather(1, draft[:, None])[:, 0]
    first = torch.where(kept, len(draft), rows).min() if len(draft) else torch.tensor(0)
    first = int(first)
    if first == len(draft):
        return first, _drawn(p[-1], u[-1])
    left = (p[first] - q[first]).clamp(min=0.0)
    return first, _drawn(left / left.sum(), u[-1])
