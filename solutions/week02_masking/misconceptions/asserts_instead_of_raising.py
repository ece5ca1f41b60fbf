"""Stops at bad lengths with an assertion.

Exercise: padding_mask
Believes: an assert is as good as an error.
Shows: AssertionError, which callers do not expect and `python -O` removes.
Hint: Assertions are for what can't happen unless your own code is wrong. Which error says that a
    caller's value is bad?
Rejected by: test_refuses_a_length_over_max_len
Costs: 15 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        assert 0 <= length <= max_len, f"length {length} is not between 0 and {max_len}"
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
