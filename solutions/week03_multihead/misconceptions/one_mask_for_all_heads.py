"""Uses the mask of the first head for every head.

Exercise: MultiHeadAttention
Believes: a mask says who may see whom, so it cannot differ between heads.
Shows: right for masks without a head axis.
Hint: A mask of shape (B, H, n, m) has a slice per head. Where does the second slice go?
Rejected by: test_masks_of_four_dimensions
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
        if mask is not None and mask.dim() == 4:
            mask = mask[:, :1]
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
