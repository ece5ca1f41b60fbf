"""Returns True for what must not be seen.

Exercise: sliding_window_mask
Believes: A mask says what is masked.
Shows: The exact opposite.
Hint: True means may attend, in every week.
Rejected by: test_a_window
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return ~((key_place <= query_place) & (near | (key_place < sinks)))
