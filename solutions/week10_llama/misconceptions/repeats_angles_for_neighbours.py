"""Pairs feature i with feature i + d/2, but arranges the angles for neighbours.

Exercise: apply_rotary
Believes: The two conventions for pairs can be mixed.
Shows: The two features of a pair are rotated by different angles, so lengths change.
Hint: Which two features are a pair? Print the angle of each of them.
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
    angles = positions.to(wide)[..., None] * frequencies.to(wide).repeat_interleave(2)
    first, second = x.to(wide).chunk(2, dim=-1)
    quarter = torch.cat([-second, first], dim=-1)
    return (x.to(wide) * angles.cos() + quarter * angles.sin()).to(x.dtype)
