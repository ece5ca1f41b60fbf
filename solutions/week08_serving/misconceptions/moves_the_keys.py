"""Adds the offset to the keys' positions.

Exercise: sliding_window_mask
Believes: Offset is offset.
Shows: Keys count as later than they are, so that few or none of them are seen.
Hint: Keys are counted from 0: key j is at position j. Whose positions does the offset shift?
Rejected by: test_offset
Costs: 30 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = torch.arange(n, device=device).unsqueeze(-1)
    key_place = offset + torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place < sinks))
