"""Gives the first row position 1.

Exercise: apply_rotary
Believes: Positions are counted from 1.
Shows: The first row is rotated, although its position is 0.
Hint: What does a rotation by an angle of 0 do to the first row? And yours?
Rejected by: test_values
Costs: 35 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(1, x.shape[2] + 1, device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]
    else:
        positions = positions + offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
