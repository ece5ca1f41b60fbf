"""Fills hidden scores with a large negative number and leaves it at that.

Exercise: MultiHeadAttention
Believes: -1e9 is as good as minus infinity.
Shows: a query with nothing to attend to attends to everything equally, and float16 cannot hold the number.
Hint: What does the softmax make of a row in which every score is equally low? And what is the
largest float16?
Rejected by: test_fully_masked_rows
Costs: 20 %
Belief: large_negative_number
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
            scores = scores.masked_fill(~mask, -1e9)
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(merge_heads(weights @ v)), weights
