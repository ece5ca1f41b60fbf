"""Gives the first token position 1.

Exercise: rotary
Believes: the first token is number one.
Shows: dot products of two turned vectors are right; each vector itself is turned one step too far.
Hint: By which angle should the very first token be turned?
Rejected by: test_values
Costs: 25 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(1, x.shape[-2] + 1, device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
