"""Computes scores that are not divided by √d.

Exercise: CausalSelfAttention
Believes: with a mask the size of the scores does not matter.
Shows: the weights are sharper than they should be.
Hint: The mask and the scale do different jobs. What did √d do in week 1?
Rejected by: test_values
Costs: 30 %
Belief: no_scale
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
