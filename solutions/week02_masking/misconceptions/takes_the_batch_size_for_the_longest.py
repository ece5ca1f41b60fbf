"""Takes the number of sequences for the length of the longest one where `max_len` is left out.

Exercise: padding_mask
Believes: the size of `lengths` is the longest length.
Shows: as many columns as there are sequences; longer sequences are refused.
Hint: `len(lengths)` counts the sequences. What does the longest of them have to do with it?
Rejected by: test_default_is_the_longest
Costs: 30 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = len(lengths)
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
