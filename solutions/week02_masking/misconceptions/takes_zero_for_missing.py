"""Treats `max_len=0` as if `max_len` had been left out.

Exercise: padding_mask
Believes: a missing argument can be found by asking whether it is true.
Shows: with max_len=0 the longest length is used and nothing is refused.
Hint: In Python both None and 0 count as false. Which of the two do you want to test for?
Rejected by: test_no_room_at_all
Costs: 15 %
"""


def padding_mask(lengths, max_len=None):
    max_len = max_len or int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
