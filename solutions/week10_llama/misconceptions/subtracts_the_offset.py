"""Subtracts the offset.

Exercise: apply_rotary
Believes: The positions are relative to the first new token.
Shows: Positions run away from those in the cache.
Hint: With an offset of 5, which position does the first row have? And the second?
Rejected by: test_offset
Costs: 30 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions - offset[:, None, None]
    else:
        positions = positions - offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
