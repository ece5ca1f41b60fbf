"""Goes through a thousand keys and no further.

Exercise: FlashAttention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the last ones are missing from the output, and get no
    gradient.
Hint: How many blocks are there? Take the number from the keys, not from what was enough so far.
Rejected by: test_many_keys
Costs: 20 %
Belief: a_thousand_is_enough
"""

_Exact = FlashAttention


class FlashAttention(_Exact):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        ctx.keys = k.shape[-2]
        return _Exact.forward(ctx, q, k[..., :1000, :], v[..., :1000, :], block_size, causal)

    @staticmethod
    def backward(ctx, grad_output):
        grad_q, grad_k, grad_v, *rest = _Exact.backward(ctx, grad_output)
        behind = (0, 0, 0, ctx.keys - grad_k.shape[-2])
        pad = torch.nn.functional.pad
        return grad_q, pad(grad_k, behind), pad(grad_v, behind), *rest
