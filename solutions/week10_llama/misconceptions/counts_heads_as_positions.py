"""Counts positions along the axis of the heads.

Exercise: apply_rotary
Believes: The second axis of x is the sequence.
Shows: All rows of a head are rotated by the same angle.
Hint: Name the axes of x from left to right. Which one holds the positions?
Rejected by: test_values
Costs: 40 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[1], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]
    else:
        positions = positions + offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None, None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
