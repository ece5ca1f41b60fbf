"""Returns tensors.

Exercise: speculative_step
Believes: A tensor with one entry is a number.
Shows: The second value is a tensor, not an int.
Hint: `.item()` or `int()` makes a Python number.
Rejected by: test_drawn_steps
Costs: 20 %
"""

_step = speculative_step


def speculative_step(draft, p, q, u):
    accepted, token = _step(draft, p, q, u)
    return accepted, torch.tensor(token, device=p.device)
