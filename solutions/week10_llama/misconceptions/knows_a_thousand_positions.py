"""Knows no positions beyond about a thousand.

Exercise: apply_rotary
Believes: No sequence is longer than the table.
Shows: Far positions are rotated as if they were the last of the table.
Hint: What does your function do at position 1050?
Rejected by: test_many_positions
Costs: 20 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]
    else:
        positions = positions + offset
    positions = positions.clamp(max=1023)
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
