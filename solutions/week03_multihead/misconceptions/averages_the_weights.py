"""Returns the mean of the weights over the heads.

Exercise: MultiHeadAttention
Believes: one weight matrix per call is what a caller wants, as PyTorch's module does by default.
Shows: the weights have shape (B, n, m); what single heads do can no longer be seen.
Hint: Which shape does the docstring promise for the weights? The output is not affected.
Rejected by: test_self_attention
Costs: 20 %
Belief: averaged_weights
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
        return self.W_o(merge_heads(weights @ v)), weights.mean(dim=1)
