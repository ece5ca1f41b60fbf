"""Hides keys that lie a thousand tokens back or more.

Exercise: CausalSelfAttention
Believes: no sequence is longer than that.
Shows: late tokens of long sequences miss the first ones.
Hint: Which keys other than the future does your mask hide?
Rejected by: test_long_sequences
Costs: 20 %
Belief: stops_at_a_thousand
"""


class CausalSelfAttention(CausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = (split_heads(part, self.n_heads) for part in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        seen = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).tril().triu(-999)
        weights = _masked_softmax(scores, seen)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
