"""Returns the scores as the weights.

Exercise: MultiHeadAttention
Believes: scores and weights are two names for one thing.
Shows: rows do not sum to one, and some entries are negative.
Hint: What should each row of the returned weights sum to?
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
        return self.W_o(merge_heads(weights @ v)), scores
