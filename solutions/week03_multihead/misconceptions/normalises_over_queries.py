"""Takes the softmax over the queries, so that columns sum to one.

Exercise: MultiHeadAttention
Believes: the softmax runs over the first of the two token axes.
Shows: each key shares out its attention among the queries.
Hint: Each query shares out one unit of attention. Over which axis should the weights sum to one?
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
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-2)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return self.W_o(merge_heads(weights @ v)), weights
