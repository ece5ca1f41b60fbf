"""Rotates neighbouring features, but arranges the angles for halves.

Exercise: apply_rotary
Believes: The angles are repeated in the same way for both kinds of pairs.
Shows: The two features of a pair are rotated by different angles, so lengths change.
Hint: Print the angle of each feature. Do both features of a pair have the same angle?
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
    angles = positions.to(wide)[..., None] * torch.cat([frequencies, frequencies]).to(wide)
    x_wide = x.to(wide)
    quarter = torch.stack([-x_wide[..., 1::2], x_wide[..., 0::2]], dim=-1).flatten(-2)
    return (x_wide * angles.cos() + quarter * angles.sin()).to(x.dtype)
