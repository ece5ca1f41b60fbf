"""Compares positions within the block in the forward pass.

Exercise: FlashAttention
Believes: The mask of a block is a triangle.
Shows: Only the first block is right: keys of later blocks are seen too early.
Hint: Number 0 of the third block is not the first key. What is its position?
Rejected by: test_causal_values
Costs: 25 %
Belief: causal_within_the_block
"""


class FlashAttention(FlashAttention):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        dtype = _wide(q.dtype)
        queries = q.to(dtype)
        maximum = torch.full_like(queries[..., :1], -torch.inf)
        total = torch.zeros_like(maximum)
        output = queries.new_zeros(*q.shape[:-1], v.shape[-1])
        stop = q.shape[-2] if causal else k.shape[-2]
        for start in range(0, min(stop, k.shape[-2]), block_size):
            keys, values = (x[..., start : start + block_size, :].to(dtype) for x in (k, v))
            scores = _scores(queries, keys, 0, causal)
            new_maximum = torch.maximum(maximum, scores.amax(-1, keepdim=True))
            rescale = torch.exp(maximum - new_maximum)
            weights = torch.exp(scores - new_maximum)
            total = total * rescale + weights.sum(-1, keepdim=True)
            output = output * rescale + weights @ values
            maximum = new_maximum
        output = (output / total).to(q.dtype)
        ctx.save_for_backward(q, k, v, output, (maximum + torch.log(total)).squeeze(-1))
        ctx.block_size, ctx.causal = block_size, causal
        return output
