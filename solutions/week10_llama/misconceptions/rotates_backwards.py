"""Rotates in the opposite direction.

Exercise: apply_rotary
Believes: The sign of the sine does not matter, since only differences count.
Shows: Scores of a query and a key are unchanged, but trained keys in a cache do not fit.
Hint: Rotate (1, 0) by a quarter turn. Where should it end?
Rejected by: test_values
Costs: 35 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]
    else:
        positions = positions + offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos + odd * sin, odd * cos - even * sin], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
