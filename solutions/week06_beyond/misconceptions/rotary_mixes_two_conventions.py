"""Rotates neighbouring entries, but arranges the angles as if the two halves were paired.

Exercise: rotary
Believes: the angles are repeated in the same way for both kinds of pairs.
Shows: the two entries of a pair are turned by different angles, so lengths change.
Hint: Print the angle that each entry gets. Should the two entries of a pair get the same angle?
Rejected by: test_values
Costs: 40 %
"""


def rotary(x, positions=None, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"d = {d} is odd")
    wide = _wide(x)
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, dtype=wide.dtype, device=x.device) / d)
    angles = positions.to(wide.dtype).unsqueeze(-1) * torch.cat([speeds, speeds])
    quarter = torch.stack([-wide[..., 1::2], wide[..., 0::2]], dim=-1).flatten(-2)
    return (wide * angles.cos() + quarter * angles.sin()).to(x.dtype)
