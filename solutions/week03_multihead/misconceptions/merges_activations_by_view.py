"""Puts the heads together without moving their axis back first.

Exercise: MultiHeadAttention
Believes: reshape(B, n, C) knows where the heads are.
Shows: the weights are right, the output is scrambled, and training would still bring a loss down.
Hint: The weights agree, so look at what happens after weights @ v: in what order are the axes when
    you merge them?
Rejected by: test_self_attention
Costs: 35 %
Belief: heads_by_view
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
        mixed = (weights @ v).reshape(query.shape)
        return self.W_o(mixed), weights
