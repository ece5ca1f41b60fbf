"""Reads each pair in place as a complex number, which needs its two entries next to each other.

Exercise: rotary
Believes: Two entries with consecutive indices are neighbours in memory.
Shows: An error for an input such as `x[:, ::2]`.
Hint: What is `x[:, ::2].stride()`? Which of your operations depends on it?
Rejected by: test_inputs_that_are_views
Costs: 15 %
"""


def rotary(x, positions=None, base=10000.0):
    *_, tokens, d = x.shape
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(tokens, device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    points = torch.view_as_complex(wide.reshape(*x.shape[:-1], d // 2, 2))
    turned = points * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)
