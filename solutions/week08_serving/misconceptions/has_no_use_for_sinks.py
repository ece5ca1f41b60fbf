"""Leaves the sinks out: what falls out of the window is hidden.

Exercise: sliding_window_mask
Believes: A window is a window; distant positions are invisible.
Shows: The first positions are hidden once they are `window` away.
Hint: With window = 3 and sinks = 1, what may a query at position 9 see in addition to positions 7,
    8 and 9?
Rejected by: test_sinks
Costs: 35 %
"""


def sliding_window_mask(n: int, m: int, window: int, sinks: int=0, offset: int=0, device: torch.device | str | None=None) -> torch.Tensor:
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near)
