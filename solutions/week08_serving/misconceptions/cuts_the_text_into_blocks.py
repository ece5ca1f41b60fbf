"""Sees the block of `window` positions that contains the query.

Exercise: sliding_window_mask
Believes: A window is a piece of the text.
Shows: Right at the end of each block; at its beginning a query sees itself alone.
Hint: The window moves with the query: each sees its own last few positions.
Rejected by: test_a_window
Costs: 35 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place // window == key_place // window
    return (key_place <= query_place) & (near | (key_place < sinks))
