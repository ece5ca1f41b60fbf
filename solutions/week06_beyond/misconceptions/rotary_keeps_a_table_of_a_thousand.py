"""Looks angles up in a table of 1024 positions.

Exercise: rotary
Believes: no text is longer than that.
Shows: positions from 1024 on are all turned like the last one.
Hint: What does your table say for position 5000?
Rejected by: test_positions_beyond_a_thousand
Costs: 20 %
"""

_rotary = rotary


def rotary(x, positions=None, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    return _rotary(x, positions.clamp(max=1023), base)
