"""Deals the features out to the heads in turn.

Exercise: MultiHeadAttention
Believes: which features make up a head is a matter of taste.
Shows: a model trained from scratch learns as well, but weights from elsewhere no longer fit.
Hint: Head 0 should read the first d outputs of each projection. Which does yours read?
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
        size = query.shape[-1] // self.num_heads
        q, k, v = (
            x.unflatten(-1, (size, self.num_heads)).permute(0, 3, 1, 2)
            for x in (self.W_q(query), self.W_k(key), self.W_v(value))
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        mixed = (weights @ v).permute(0, 2, 3, 1).flatten(2)
        return self.W_o(mixed), weights
