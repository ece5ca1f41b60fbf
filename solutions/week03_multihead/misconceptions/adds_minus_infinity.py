"""Adds minus infinity to hidden scores and repairs the NaN afterwards.

Exercise: MultiHeadAttention
Believes: once the values are repaired, the gradients are too.
Shows: the values are right; a query with nothing to attend to sends NaN into every gradient.
Hint: Look at the gradient of the query under a mask with an empty row. Which of your operations does a NaN gradient pass through?
Rejected by: test_gradients_of_empty_rows
Costs: 20 %
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
            hidden = torch.zeros_like(mask, dtype=scores.dtype)
            scores = scores + hidden.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        return self.W_o(merge_heads(weights @ v)), weights
