"""Keeps a mask for eight tokens and cuts the mask of every sequence out of it.

Exercise: CausalSelfAttention
Believes: no sequence is longer than the one of the lesson.
Shows: right up to eight tokens; an error about sizes beyond them.
Hint: Which length does the docstring name as the longest? Try a sequence that is longer than your mask.
Rejected by: test_changing_lengths
Costs: 30 %
Belief: mask_of_fixed_size
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__(d_model, n_heads, dropout)
        causal = torch.ones(8, 8, dtype=torch.bool).tril()
        self.register_buffer("causal", causal, persistent=False)

    def forward(self, x, return_weights=False):
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in parts)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        tokens = x.shape[1]
        weights = _masked_softmax(scores, self.causal[:tokens, :tokens])
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
