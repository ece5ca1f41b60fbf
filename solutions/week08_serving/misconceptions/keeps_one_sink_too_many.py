"""Takes position `sinks` for a sink as well.

Exercise: sliding_window_mask
Believes: The sinks reach up to position `sinks`.
Shows: Key 0 is always seen, even with sinks = 0.
Hint: Two sinks are the positions 0 and 1.
Rejected by: test_sinks
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place <= sinks))
