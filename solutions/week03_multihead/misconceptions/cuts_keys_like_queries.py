"""Cuts keys and values into as many tokens as there are queries.

Exercise: MultiHeadAttention
Believes: queries and keys are the same tokens.
Shows: right where there are as many keys as queries, an error elsewhere.
Hint: Which of your sizes were read from the query, and where are they used?
Rejected by: test_more_keys_or_queries
Costs: 25 %
"""

_MultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        if mask is not None and mask.dim() not in (2, 4):
            raise ValueError(f"a mask of {mask.dim()} dimensions")
        batch, tokens, width = query.shape
        shape = (batch, tokens, self.num_heads, width // self.num_heads)
        q = self.W_q(query).reshape(shape).transpose(1, 2)
        k = self.W_k(key).reshape(shape).transpose(1, 2)
        v = self.W_v(value).reshape(shape).transpose(1, 2)
        weights = _masked_softmax(q @ k.transpose(-2, -1) / math.sqrt(shape[-1]), mask)
        return self.W_o(merge_heads(weights @ v)), weights
