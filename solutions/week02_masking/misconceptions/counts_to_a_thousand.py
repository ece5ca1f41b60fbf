"""Counts positions to a thousand and no further.

Exercise: padding_mask
Believes: a thousand tokens are always enough.
Shows: for more than a thousand tokens the mask is too narrow.
Hint: Where does the width of your mask come from? It should come from max_len alone.
Rejected by: test_long_sequences
Costs: 20 %
"""


def padding_mask(lengths, max_len=None):
    shortest, longest = int(lengths.min()), int(lengths.max())
    max_len = longest if max_len is None else max_len
    if shortest < 0 or longest > max_len:
        raise ValueError(f"lengths {shortest} to {longest} do not fit in {max_len}")
    position = torch.arange(1000, device=lengths.device)[:max_len]
    return position[None, :] < lengths[:, None]
