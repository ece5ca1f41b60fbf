"""Halves the exponent, so that later pairs turn too fast.

Exercise: rotary
Believes: i is the number of the pair, and the 2 is for the two entries.
Shows: the slowest pair is about √base times as slow as the first, instead of about base times.
Hint: For the last pair the exponent should be close to -1. What is yours?
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
    speeds = base ** (-torch.arange(d // 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
