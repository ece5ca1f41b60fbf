"""Compares how far back a key lies, and lets keys that are ahead pass.

Exercise: sliding_window_mask
Believes: What is less than `window` away is in the window.
Shows: Every query sees everything that comes after it.
Hint: For a key that is ahead, what is position - j? Is that less than `window`?
Rejected by: test_a_window
Costs: 40 %
"""


def sliding_window_mask(n: int, m: int, window: int, sinks: int=0, offset: int=0, device: torch.device | str | None=None) -> torch.Tensor:
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (near | (key_place < sinks))
