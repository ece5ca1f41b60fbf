"""Takes the first keys after the offset for the sinks.

Exercise: sliding_window_mask
Believes: The sinks are the first that this call sees.
Shows: Right for offset 0; later all keys before the offset are sinks.
Hint: The sinks are the first positions of the text. Do they change while it grows?
Rejected by: test_sinks_and_offset
Costs: 25 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place - offset < sinks))
