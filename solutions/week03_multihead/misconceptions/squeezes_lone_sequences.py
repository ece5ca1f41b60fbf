"""Drops the batch axis where there is a single sequence.

Exercise: CausalSelfAttention
Believes: a batch of one is not a batch.
Shows: right for real batches; a single sequence is returned without an axis.
Hint: Which shape does the docstring promise, for any B?
Rejected by: test_singleton_axes
Costs: 15 %
Belief: squeezed_axes
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        y, weights = y.squeeze(0), weights.squeeze(0)
        return (y, weights) if return_weights else y
