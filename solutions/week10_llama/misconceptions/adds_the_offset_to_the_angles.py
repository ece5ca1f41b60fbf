"""Adds the offset to the angles.

Exercise: apply_rotary
Believes: An offset shifts the angle.
Shows: All pairs are rotated by the same additional angle.
Hint: By how much does the angle of the slowest pair change if the position grows by 1?
Rejected by: test_offset
Costs: 30 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        pass
    else:
        pass
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    shift = offset[:, None, None, None] if isinstance(offset, torch.Tensor) else offset
    angles = angles + shift
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
