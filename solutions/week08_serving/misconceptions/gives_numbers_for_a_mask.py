"""Returns 0 and 1 as floats.

Exercise: sliding_window_mask
Believes: 1.0 is true.
Shows: dtype float32 instead of bool.
Hint: `~mask` and `masked_fill` want bool. Comparisons give it to you.
Rejected by: test_a_window
Costs: 20 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return ((key_place <= query_place) & (near | (key_place < sinks))).float()
