"""Detaches the weights it returns.

Exercise: MultiHeadAttention
Believes: weights are returned for pictures only.
Shows: values and output are right; a loss on the weights would not train anything.
Hint: A caller may put a penalty on the weights. Let a gradient flow through what you return.
Rejected by: test_gradients
Costs: 15 %
Belief: detached_weights
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
        return self.W_o(merge_heads(weights @ v)), weights.detach()
