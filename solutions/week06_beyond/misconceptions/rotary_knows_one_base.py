"""Rotates by the angles of base 10000 and ignores `base`.

Exercise: rotary
Believes: the base of the paper is the base.
Shows: wrong for any other base, which long-context models use.
Hint: Where does your code use `base`, apart from the signature?
Rejected by: test_base
Costs: 20 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = 10000.0 ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
