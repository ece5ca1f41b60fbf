"""Pairs feature i with feature i + d/2.

Exercise: apply_rotary
Believes: Every implementation of RoPE rotates the two halves against each other.
Shows: Weights that were trained with neighbouring pairs give nonsense.
Hint: Rotate (1, 0, 0, 0) by hand, at position 1. Which feature becomes different from 0?
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
    even, odd = x.to(wide).chunk(2, dim=-1)
    rotated = torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.to(x.dtype)
