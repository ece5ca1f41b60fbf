"""Lets a query see keys up to `window` positions away, that is, window + 1 keys including its own.

Exercise: sliding_window_mask
Believes: A window of 3 reaches 3 back.
Shows: One key more than asked for in every row.
Hint: How many keys does a query see with window = 1? Count its own.
Rejected by: test_a_window
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place <= window
    return (key_place <= query_place) & (near | (key_place < sinks))
