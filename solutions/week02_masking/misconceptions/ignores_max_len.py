"""Makes as many columns as the longest sequence has tokens, and ignores `max_len`.

Exercise: padding_mask
Believes: the longest sequence always fills the batch.
Shows: the mask is too narrow where max_len is larger than every length.
Hint: A batch may be padded further than its longest sequence needs. What is `max_len` for?
Rejected by: test_max_len
Costs: 25 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")

    return torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
