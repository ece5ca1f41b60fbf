"""Sees half a window back, as if the other half were in the future.

Exercise: sliding_window_mask
Believes: a window has its query in the middle.
Shows: too few keys are seen, as soon as the window is larger than 2.
Hint: With window = 6, how many keys may a query late in the text see? Count them in your row.
Rejected by: test_a_window
Costs: 30 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place <= window // 2
    return (key_place <= query_place) & (near | (key_place < sinks))
