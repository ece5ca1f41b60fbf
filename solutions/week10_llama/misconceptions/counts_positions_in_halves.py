"""Counts positions in the dtype of x.

Exercise: apply_rotary
Believes: The result has x's dtype, so positions and angles can have it too.
Shows: Far positions are rounded: in bfloat16, position 257 becomes 256.
Hint: Count from 250 to 260 in bfloat16. Which numbers do you see?
Rejected by: test_far_positions_in_halves
Costs: 25 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device, dtype=x.dtype)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[:, None, None]
    else:
        positions = positions + offset
    angles = positions[..., None] * frequencies.to(x.dtype)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2)
