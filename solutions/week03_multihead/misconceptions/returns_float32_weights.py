"""Computes the weights in float32 and returns them so.

Exercise: MultiHeadAttention
Believes: more precision can only please the caller.
Shows: in half and double precision the weights have a different dtype from the input.
Hint: The softmax may well run in float32. What should happen before the weights leave your forward?
Rejected by: test_every_dtype
Costs: 15 %
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
        weights = _masked_softmax(scores.float(), mask)
        return self.W_o(merge_heads(weights.to(v.dtype) @ v)), weights
