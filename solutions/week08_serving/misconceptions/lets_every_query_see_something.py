"""Makes the last key visible where a row would be empty.

Exercise: sliding_window_mask
Believes: A row without a key would be NaN.
Shows: Queries far past the last key see it.
Hint: An empty row is not an error in the mask: attention returns zeros for it.
Rejected by: test_more_queries_than_keys
Costs: 20 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n, device=device).unsqueeze(-1)
    key_place = torch.arange(m, device=device)
    near = query_place - key_place < window
    mask = (key_place <= query_place) & (near | (key_place < sinks))
    return mask | (~mask.any(-1, keepdim=True) & (key_place == m - 1))
