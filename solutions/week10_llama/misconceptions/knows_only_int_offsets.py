"""Uses the first offset for all sequences.

Exercise: apply_rotary
Believes: All sequences of a batch begin at the same position.
Shows: All sequences but the first are rotated wrongly.
Hint: Take a batch of two sequences with offsets 0 and 5. Which positions do your rows have?
Rejected by: test_offset_of_each_sequence
Costs: 25 %
"""

def apply_rotary(x, frequencies, offset=0):
    positions = torch.arange(x.shape[2], device=x.device)
    if isinstance(offset, torch.Tensor):
        positions = positions + offset[0]
    else:
        positions = positions + offset
    wide = torch.promote_types(x.dtype, torch.float32)
    angles = positions.to(wide)[..., None] * frequencies.to(wide)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x.to(wide)[..., 0::2], x.to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
