"""Turns as many pairs as there are and passes the last entry on, where d is odd.

Exercise: rotary
Believes: an entry without a partner can remain unchanged.
Shows: a size that cannot be right goes unnoticed.
Hint: The docstring says what happens for an odd d.
Rejected by: test_refuses_an_odd_size
Costs: 15 %
"""

_right_rotary = rotary


def rotary(x, positions=None, base=10000.0):
    even = x.shape[-1] // 2 * 2
    return torch.cat([_right_rotary(x[..., :even], positions, base), x[..., even:]], dim=-1)
