"""Reuses the frequencies or angles of an earlier call.

Exercise: apply_rotary
Believes: All calls use the same positions and frequencies.
Shows: Later calls with another offset or other frequencies are wrong.
Hint: Call your function twice, with different frequencies. What does the second call use?
Rejected by: test_two_calls
Costs: 30 %
"""

_rotary, _tables = apply_rotary, {}


def apply_rotary(x, frequencies, offset=0):
    table = _tables.setdefault(tuple(x.shape), frequencies.detach().clone())
    return _rotary(x, table + 0 * frequencies, offset)
