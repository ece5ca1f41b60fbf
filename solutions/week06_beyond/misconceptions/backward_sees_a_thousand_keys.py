"""Looks at the first thousand keys and no further.

Exercise: attention_backward
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the last ones get no gradient.
Hint: How many keys does a query see? Take the number from the keys.
Rejected by: test_many_keys
Costs: 20 %
"""

_right = attention_backward


def attention_backward(q, k, v, grad_out, mask=None):
    mask = mask if mask is None or mask.shape[-1] == 1 else mask[..., :1000]
    grad_q, grad_k, grad_v = _right(q, k[..., :1000, :], v[..., :1000, :], grad_out, mask)
    rest = max(k.shape[-2] - 1000, 0)
    pad = torch.nn.functional.pad
    return grad_q, pad(grad_k, (0, 0, 0, rest)), pad(grad_v, (0, 0, 0, rest))
