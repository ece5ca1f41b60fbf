"""Creates the positions on the CPU.

Exercise: apply_rotary
Believes: A few integers may be anywhere.
Shows: An error on a GPU.
Hint: On which device is the result of torch.arange if you do not say?
Rejected by: test_device
Costs: 15 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2])
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
