"""Applies dropout to the scores, before the softmax.

Exercise: CausalSelfAttention
Believes: a score of zero is a dropped connection.
Shows: dropped keys keep the weight exp(0) / sum, and rows still sum to one.
Hint: What weight does a score of zero lead to? Where would a zero really disconnect a key?
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
        dropped = _masked_softmax(self.dropout(scores), causal)
        y = self.proj(merge_heads(dropped @ v))
        return (y, weights) if return_weights else y
