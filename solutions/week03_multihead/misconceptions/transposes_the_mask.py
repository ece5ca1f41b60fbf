"""Applies the mask with queries and keys exchanged.

Exercise: MultiHeadAttention
Believes: rows of a mask are keys.
Shows: with a causal mask each token sees only itself and the future.
Hint: In a mask (n, m), which axis counts the queries? Try one that is not symmetric.
Rejected by: test_mask_of_two_dimensions
Costs: 25 %
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
        if mask is not None and mask.shape[-2] == mask.shape[-1]:
            mask = mask.transpose(-2, -1)
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
