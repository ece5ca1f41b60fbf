"""Expects every head's queries, keys and values side by side in the fused projection.

Exercise: CausalSelfAttention
Believes: the output of `qkv` is ordered by head first.
Shows: right for one head; otherwise the three roles are mixed between heads.
Hint: Which comes first in the 3C features: all the queries of all heads, or all three parts of head 0?
Rejected by: test_values
Costs: 30 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        batch, tokens, _ = x.shape
        fused = self.qkv(x).reshape(batch, tokens, self.n_heads, -1).transpose(1, 2)
        q, k, v = fused.chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
