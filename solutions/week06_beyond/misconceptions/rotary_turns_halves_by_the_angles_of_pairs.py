"""Turns the first half against the second, each entry by the angle of its pair of neighbours.

Exercise: rotary
Believes: the two conventions differ in how one writes them, not in what they do.
Shows: lengths change, and products do not depend on the distance alone.
Hint: Which two entries are one point of the plane? Are they turned by the same angle?
Rejected by: test_values
Costs: 40 %
"""

def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} must be even")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = (positions.to(wide.dtype).unsqueeze(-1) * speeds).repeat_interleave(2, dim=-1)
    first, second = wide.chunk(2, dim=-1)
    turned = torch.cat([-second, first], dim=-1)
    return (wide * angles.cos() + turned * angles.sin()).to(x.dtype)
