"""Joins window and sinks by `and`.

Exercise: sliding_window_mask
Believes: All conditions must be true.
Shows: Without sinks nothing is seen; with some, only those within the window.
Hint: A key may be near *or* a sink. Which condition applies to both kinds?
Rejected by: test_a_window
Costs: 30 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & near & (key_place < sinks)
