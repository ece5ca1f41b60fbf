"""Makes the mask on the CPU, whatever `device` says.

Exercise: sliding_window_mask
Believes: torch finds the device by itself.
Shows: A mask on the CPU for scores on the GPU.
Hint: Pass `device` to every function that creates a tensor.
Rejected by: test_device
Costs: 15 %
"""


def sliding_window_mask(n, m, window, sinks=0, offset=0, device=None):
    query_place = offset + torch.arange(n).unsqueeze(-1)
    key_place = torch.arange(m)
    near = query_place - key_place < window
    return (key_place <= query_place) & (near | (key_place < sinks))
