"""Marks a band around the diagonal: as far ahead as back, and without the sinks.

Exercise: sliding_window_mask
Believes: a window extends to both sides of its query, as in an encoder.
Shows: queries see keys that come after them; the first keys are lost when they fall out of the
    band.
Hint: What may the very first query see? And with sinks = 1, what may a late one see of the
    beginning?
Rejected by: test_a_window
Costs: 80 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    return (query_place - key_place).abs() <= window
