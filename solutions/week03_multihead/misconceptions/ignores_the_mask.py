"""Takes a mask that has no effect on the result.

Exercise: MultiHeadAttention
Believes: masking happens somewhere else.
Shows: hidden keys keep their weight.
Hint: Follow the mask through your forward. Is the result of masked_fill kept?
Rejected by: test_mask_of_two_dimensions
Costs: 30 %
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
        weights = _masked_softmax(scores)
        return self.W_o(merge_heads(weights @ v)), weights
