"""Computes positions and angles in the dtype of x.

Exercise: rotary
Believes: if input and output are in half precision, everything in between can be too.
Shows: right for short sequences; after a few dozen positions, half-precision vectors are turned by
    angles that are far off.
Hint: bfloat16 has 8 bits for the digits. Which position does 257 become? When should the conversion
    to half precision come?
Rejected by: test_far_positions_in_halves
Costs: 20 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = x
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = wide[..., 0::2], wide[..., 1::2]
    turned = [first * cosine - second * sine, first * sine + second * cosine]
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
