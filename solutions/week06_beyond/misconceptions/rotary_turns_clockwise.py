"""Turns the pairs the other way round.

Exercise: rotary
Believes: the sign of the angle does not matter.
Shows: dot products of two vectors turned like this are right; a single turned vector is not.
Hint: Turn the point (1, 0) by a small angle, counter-clockwise. Is its second coordinate positive or negative?
Rejected by: test_values
Costs: 30 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine + second * sine, second * cosine - first * sine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
