"""Returns all even features before all odd ones.

Exercise: apply_rotary
Believes: The order of the features does not matter.
Shows: The right numbers, at the wrong features.
Hint: At position 0 nothing is rotated. Do you get back the same vector?
Rejected by: test_values
Costs: 40 %
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
    rotated = torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.to(x.dtype)
