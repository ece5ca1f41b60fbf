"""Takes every third feature of the fused projection for the queries, and so on.

Exercise: CausalSelfAttention
Believes: the three parts are interleaved feature by feature.
Shows: every part is a mixture of queries, keys and values.
Hint: Which features of the 3C does the docstring call the queries: the first C, or every third?
Rejected by: test_values
Costs: 30 %
Belief: interleaved_heads
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).unflatten(-1, (-1, 3)).unbind(-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
