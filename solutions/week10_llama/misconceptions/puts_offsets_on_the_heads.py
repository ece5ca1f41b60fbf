"""Broadcasts the offsets over the heads.

Exercise: apply_rotary
Believes: (B, s) positions fit (B, H, s, d).
Shows: An error, or with B = H the offset of another sequence.
Hint: Write down the shape of your angles and, below it, aligned at the right, that of x.
Rejected by: test_offset_of_each_sequence
Costs: 25 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None]
    else:
        positions = positions + offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
