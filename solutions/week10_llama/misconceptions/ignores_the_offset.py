"""Ignores the offset.

Exercise: apply_rotary
Believes: A sequence begins at position 0.
Shows: Tokens that follow a cache are rotated as if they came first.
Hint: Call your function with two offsets. Should the results be equal?
Rejected by: test_offset
Costs: 35 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
