"""Creates a tensor on the CPU if no mask is given.

Exercise: attention_backward
Believes: torch moves tensors together by itself.
Shows: an error on a GPU.
Hint: Every new tensor needs a device: that of the queries.
Rejected by: test_device
Costs: 15 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    if mask is None:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return _right(q, k, v, grad_out, mask)
