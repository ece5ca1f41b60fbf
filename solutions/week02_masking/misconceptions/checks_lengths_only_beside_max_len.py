"""Checks the lengths only where `max_len` is given.

Exercise: padding_mask
Believes: without max_len nothing can go wrong.
Shows: a negative length passes where max_len is left out.
Hint: Which of the two errors can also happen when `max_len` is left out?
Rejected by: test_refuses_a_length_below_zero_without_max_len
Costs: 15 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    else:
        for length in lengths.tolist():
            if not 0 <= length <= max_len:
                raise ValueError(f"length {length} is not between 0 and {max_len}")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
