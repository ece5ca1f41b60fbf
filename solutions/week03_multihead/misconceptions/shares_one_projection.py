"""Uses the query's projection for queries, keys and values.

Exercise: MultiHeadAttention
Believes: the three layers are one layer with three names.
Shows: W_k and W_v have no influence on the result.
Hint: Change W_k: does your output change?
Rejected by: test_self_attention
Costs: 35 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() == 3:
            raise ValueError(f"a mask of shape {tuple(mask.shape)} has {mask.dim()} dimensions")
        q, k, v = (split_heads(self.W_q(x), self.num_heads) for x in (query, key, value))
        weights = _masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), mask)
        return self.W_o(merge_heads(weights @ v)), weights
