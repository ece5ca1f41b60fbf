"""Lets the sinks use up places of the window.

Exercise: sliding_window_mask
Believes: A query sees `window` keys in all.
Shows: The window is shorter by the number of sinks.
Hint: The docstring says "besides". How many keys does a late query see with window 3 and 2 sinks?
Rejected by: test_sinks
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < max(window - sinks, 1)
    return (key_place <= query_place) & (near | (key_place < sinks))
