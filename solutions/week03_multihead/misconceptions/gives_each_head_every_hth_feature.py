"""Gives head h the features h, h + H, h + 2H … and concatenates the heads at the end.

Exercise: MultiHeadAttention
Believes: it does not matter which features make a head, as long as each has d of them.
Shows: right shapes and rows that sum to 1, but the heads do not match the weights.
Hint: Which features belong to head 0 in `split_heads`? Compare them with yours.
Rejected by: test_self_attention
Costs: 30 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() not in (2, 4):
            raise ValueError(f"a mask of {mask.dim()} dimensions, shape {tuple(mask.shape)}")
        q, k, v = (
            y.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)
            for y in (self.W_q(query), self.W_k(key), self.W_v(value))
        )
        weights = _masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), mask)
        return self.W_o(merge_heads(weights @ v)), weights
