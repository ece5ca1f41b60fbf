"""Returns the mean of the weights over the heads.

Exercise: CausalSelfAttention
Believes: one matrix per sequence is enough.
Shows: the weights have shape (B, T, T).
Hint: Which shape does the docstring promise for the weights?
Rejected by: test_returned_weights
Costs: 20 %
Belief: averaged_weights
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
        return (y, weights.mean(dim=1)) if return_weights else y
