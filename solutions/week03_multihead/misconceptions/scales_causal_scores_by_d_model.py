"""Divides the scores by √d_model.

Exercise: CausalSelfAttention
Believes: the d under the root is the width of x.
Shows: every head's weights are too flat.
Hint: Over how many features does q·k sum within one head?
Rejected by: test_values
Costs: 30 %
Belief: scale_by_the_whole_width
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])
        tokens = x.shape[1]
        causal = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril()
        weights = _masked_softmax(scores, causal)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
