"""Lets every token see the whole sequence.

Exercise: CausalSelfAttention
Believes: causality comes from the order of the tokens.
Shows: changing a later token changes earlier outputs.
Hint: Change the last token of x. Which rows of the output should stay the same?
Rejected by: test_values
Costs: 40 %
"""

_RightCausalSelfAttention = CausalSelfAttention


class CausalSelfAttention(_RightCausalSelfAttention):
    def forward(self, x, return_weights=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_heads) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores)
        y = self.proj(merge_heads(self.dropout(weights) @ v))
        return (y, weights) if return_weights else y
