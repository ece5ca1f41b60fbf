"""Takes the last query for the position of the last key.

Exercise: sliding_window_mask
Believes: The newest query belongs to the newest key.
Shows: Right where m = offset + n, as it mostly is.
Hint: The arguments give the positions of the queries. Try n = 3, m = 9, offset = 0.
Rejected by: test_more_keys_than_positions
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = m - n + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place < sinks))
