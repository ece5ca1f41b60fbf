"""Sends the query through W_k and the key through W_q.

Exercise: MultiHeadAttention
Believes: W_q and W_k are interchangeable because their product is symmetric.
Shows: the transposed scores in self-attention; it does not show if both layers hold the same
    weights.
Hint: Is q·k the same number if the two layers change places? Try two different tokens.
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
        q = split_heads(self.W_k(query), self.num_heads)
        k = split_heads(self.W_q(key), self.num_heads)
        v = split_heads(self.W_v(value), self.num_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
