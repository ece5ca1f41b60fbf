"""Merges the heads with their features interleaved.

Exercise: MultiHeadAttention
Believes: W_o sorts the features out anyway.
Shows: the weights are right; the output projection reads the features in the wrong order.
Hint: W_o expects head 0's features first. Which axis runs slowest when you merge?
Rejected by: test_self_attention
Costs: 30 %
Belief: interleaved_heads
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
        mixed = (weights @ v).permute(0, 2, 3, 1).flatten(2)
        return self.W_o(mixed), weights
