"""Puts the real tokens at the end of each row, after the padding.

Exercise: padding_mask
Believes: padding comes first, as it does when text is generated in batches.
Shows: each row has the right number of True entries, at the wrong end.
Hint: The number of True entries is right. At which end of the row is the padding in this
    exercise?
Rejected by: test_real_tokens_come_first
Costs: 40 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")

    return torch.arange(max_len, device=lengths.device) >= max_len - lengths[:, None]
