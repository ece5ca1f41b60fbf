"""Computes scores that are not divided by √d.

Exercise: MultiHeadAttention
Believes: the scaling is an optional refinement.
Shows: the weights are sharper than they should be.
Hint: How does the variance of q·k grow with the head size, and what did week 1 do about it?
Rejected by: test_self_attention
Costs: 30 %
Belief: no_scale
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
        scores = q @ k.transpose(-2, -1)
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
