"""Shows sinks to queries that come before them.

Exercise: sliding_window_mask
Believes: Sinks are always visible.
Shows: The first queries see sinks that lie in their future.
Hint: With four sinks, which of them come after query 0? May it see those?
Rejected by: test_sinks
Costs: 30 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = (query_place - key_place < window) & (key_place <= query_place)
    return near | (key_place < sinks)
