"""Treats a negative length as an empty sequence.

Exercise: padding_mask
Believes: a comparison takes care of negative lengths.
Shows: no ValueError; a row of False.
Hint: The comparison works, but what should a caller learn whose lengths went below zero?
Rejected by: test_refuses_a_length_below_zero
Costs: 15 %
"""


def padding_mask(lengths, max_len=None):
    if max_len is None:
        max_len = int(lengths.max())
    if int(lengths.max()) > max_len:
        raise ValueError(f"length {int(lengths.max())} is over {max_len}")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
