"""Removes the future from the weights after the softmax.

Exercise: CausalSelfAttention
Believes: zeros can be written at any time.
Shows: rows sum to less than one, and later tokens still change earlier outputs through the softmax's sum.
Hint: Sum the rows of your weights. Who received the attention that the future lost?
Rejected by: test_values
Costs: 30 %
Belief: masks_after_the_softmax
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = torch.softmax(scores, dim=-1) * causal
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
