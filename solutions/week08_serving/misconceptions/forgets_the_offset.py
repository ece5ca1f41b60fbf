"""Computes the same mask for every offset.

Exercise: sliding_window_mask
Believes: Row i is position i.
Shows: Right for offset 0; while decoding, only the first key is seen.
Hint: While decoding there is one row. What is its position, and which keys may it see?
Rejected by: test_offset
Costs: 35 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place < sinks))
