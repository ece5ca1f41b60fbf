"""Lets a query see as far ahead as back.

Exercise: sliding_window_mask
Believes: A window lies around a position.
Shows: Keys after the query are seen.
Hint: This window is causal: which sign has position - j for a key in the future?
Rejected by: test_a_window
Costs: 35 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    return ((query_place - key_place).abs() < window) | (key_place < sinks)
