"""Adds the input to the output.

Exercise: MultiHeadAttention
Believes: a residual connection is part of attention.
Shows: with all weights zero, the output would still be the input.
Hint: Residual connections come around attention, in week 5. What should come out if W_o were zero?
Rejected by: test_self_attention
Costs: 20 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        q = split_heads(self.W_q(query), self.num_heads)
        k = split_heads(self.W_k(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return query + self.W_o(merge_heads(weights @ v)), weights
