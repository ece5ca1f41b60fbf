"""Divides the dropped weights by their sum again.

Exercise: CausalSelfAttention
Believes: weights have to sum to one, dropped or not.
Shows: in training each row sums to one again, so that a weight that stays alone becomes 1.
Hint: nn.Dropout already makes up for what it drops, on average. What would the row's sum be in expectation?
Rejected by: test_training_drops_whole_weights
Costs: 20 %
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
        kept = self.dropout(weights)
        kept = kept / kept.sum(dim=-1, keepdim=True).clamp_min(1e-9)
        y = self.proj(merge_heads(kept @ v))
        return (y, weights) if return_weights else y
