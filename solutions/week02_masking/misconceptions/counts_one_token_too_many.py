"""Counts the first padding token after each sequence as a real one.

Exercise: padding_mask
Believes: position `length` is the last real token.
Shows: each row with room for it has one True too many.
Hint: Positions are counted from 0. What is the position of the last token in a sequence of
    three tokens?
Rejected by: test_real_tokens_come_first
Costs: 35 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    for length in lengths.tolist():
        if not 0 <= length <= max_len:
            raise ValueError(f"length {length} is not between 0 and {max_len}")

    return torch.arange(max_len, device=lengths.device) <= lengths[:, None]
