"""Drops weights without enlarging those that stay.

Exercise: CausalSelfAttention
Believes: dropout only deletes.
Shows: in training, outputs are smaller on average than in evaluation.
Hint: If half of the weights are dropped, what happens to the mean of the output, and what does nn.Dropout do about it?
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
        kept = self.dropout(torch.ones_like(weights)) > 0
        y = self.proj(merge_heads((weights * kept) @ v))
        return (y, weights) if return_weights else y
