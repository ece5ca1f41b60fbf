"""Pairs feature i with feature i + d/2, and returns them as neighbours.

Exercise: apply_rotary
Believes: The order of the features does not matter.
Shows: Even position 0 permutes the vector.
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
    even, odd = x.to(wide).chunk(2, dim=-1)
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
