"""Rotates without gradients.

Exercise: apply_rotary
Believes: Positions are not learned, so their code needs no gradients.
Shows: The projections of queries and keys never learn.
Hint: Between which two layers does your function sit in the model? What has to flow through it?
Rejected by: test_gradients
Costs: 25 %
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
    even, odd = x.detach().to(wide)[..., 0::2], x.detach().to(wide)[..., 1::2]
    rotated = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return rotated.flatten(-2).to(x.dtype)
