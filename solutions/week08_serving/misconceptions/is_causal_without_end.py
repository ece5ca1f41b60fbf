"""Never hides an earlier key, however far back it is.

Exercise: sliding_window_mask
Believes: A causal mask hides what must be hidden.
Shows: Right while the text is shorter than the window.
Hint: What does position 100 see with a window of 3?
Rejected by: test_a_window
Costs: 90 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    return torch.arange(m, device=device) <= query_place
