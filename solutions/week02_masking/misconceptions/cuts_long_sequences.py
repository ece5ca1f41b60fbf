"""Treats a sequence that is longer than `max_len` as if it just filled the row.

Exercise: padding_mask
Believes: too long a length can be cut silently.
Shows: no ValueError; a full row of True.
Hint: A length that does not fit is a mistake somewhere else. Say so while it can still be found.
Rejected by: test_refuses_a_length_over_max_len
Costs: 20 %
"""


def padding_mask(lengths, max_len=None):
    if int(lengths.min()) < 0:
        raise ValueError(f"negative length {int(lengths.min())}")
    if max_len is None:
        max_len = int(lengths.max())
    return torch.arange(max_len, device=lengths.device) < lengths.clamp(max=max_len)[:, None]
