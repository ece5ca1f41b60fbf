"""Looks at the first thousand keys and no further.

Exercise: MultiHeadAttention
Believes: no sequence is longer than that.
Shows: with more than a thousand keys the weights of the last ones are missing.
Hint: How many keys does a query see? Take the number from the keys.
Rejected by: test_many_keys
Costs: 20 %
Belief: stops_at_a_thousand
"""

_MultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_MultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = key if value is None else value
        mask = mask if mask is None else mask[..., :1000]
        return super().forward(query, key[:, :1000], value[:, :1000], mask)
