"""Refuses bad lengths with a message that does not say which length was wrong.

Exercise: padding_mask
Believes: the kind of error says enough.
Shows: a ValueError without the offending number.
Hint: Imagine this message in a log, from a batch of five hundred sequences. What would you want
    to read?
Rejected by: test_refuses_a_length_over_max_len
Costs: 15 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    if bool((lengths < 0).any()):
        raise ValueError("lengths must not be negative")
    if bool((lengths > max_len).any()):
        raise ValueError("a sequence is longer than max_len")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
