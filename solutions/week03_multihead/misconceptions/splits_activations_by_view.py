"""Gives each head whole tokens: the heads are split off without moving the axis.

Exercise: MultiHeadAttention
Believes: view(B, H, T, d) is the same as splitting and transposing.
Shows: shapes and row sums are right, the numbers are not.
Hint: Number the entries of a small tensor and follow one token through your reshape before the attention.
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
        batch, _, width = query.shape
        size = width // self.num_heads
        q = self.W_q(query).reshape(batch, self.num_heads, -1, size)
        k = self.W_k(key).reshape(batch, self.num_heads, -1, size)
        v = self.W_v(value).reshape(batch, self.num_heads, -1, size)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = _masked_softmax(scores, mask)
        return self.W_o(merge_heads(weights @ v)), weights
