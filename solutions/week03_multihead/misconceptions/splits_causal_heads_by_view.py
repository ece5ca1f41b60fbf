"""Gives each head a run of whole tokens: the heads are split off without moving the axis.

Exercise: CausalSelfAttention
Believes: view(B, H, T, d) is the same as splitting and transposing.
Shows: shapes and row sums are right, the numbers are not.
Hint: Follow one token of a small numbered tensor through your reshape.
Rejected by: test_values
Costs: 35 %
Belief: heads_by_view
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (
            part.reshape(len(x), self.n_heads, -1, part.shape[-1] // self.n_heads)
            for part in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
