"""Divides the scores by the square root of the number of heads.

Exercise: MultiHeadAttention
Believes: the root belongs to the number of heads.
Shows: too sharp or too flat, depending on the sizes; right where H equals d.
Hint: Which axis does the product of q and k sum over? Its length is the number you want.
Rejected by: test_self_attention
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.num_heads)
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
