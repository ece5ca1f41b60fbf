"""Detaches the weights it returns.

Exercise: CausalSelfAttention
Believes: weights are returned for pictures only.
Shows: values and output are right; a loss on the weights would not train anything.
Hint: A caller may put a penalty on the weights. Let a gradient flow through what you return.
Rejected by: test_gradients
Costs: 15 %
Belief: detached_weights
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
        return (y, weights.detach()) if return_weights else y
