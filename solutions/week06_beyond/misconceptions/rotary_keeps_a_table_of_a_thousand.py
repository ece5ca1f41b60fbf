"""Turns all positions from 1024 on by the same angles.

Exercise: rotary
Believes: no text is longer than that.
Shows: positions from 1024 on are all turned like the last one.
Hint: By which angles does your code turn position 5000?
Rejected by: test_positions_beyond_a_thousand
Costs: 20 %
"""

_rotary = rotary


def rotary(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    return _rotary(x, positions.clamp(max=1023), base)
