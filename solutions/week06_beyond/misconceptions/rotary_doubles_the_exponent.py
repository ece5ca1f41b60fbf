"""Doubles the exponent, so that later pairs turn too slowly.

Exercise: rotary
Believes: the formula says 2i, so the exponent needs a 2.
Shows: the later pairs turn too slowly.
Hint: If your counter goes 0, 2, 4, …, is it i or 2i of the formula?
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
    speeds = base ** (-2 * torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
