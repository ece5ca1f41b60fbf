"""Uses the query as the value if no value is given.

Exercise: MultiHeadAttention
Believes: both default to the query.
Shows: right for self-attention and with all three given; wrong for forward(query, memory).
Hint: Someone calls forward(decoder, encoder). Whose content should be mixed?
Rejected by: test_value_defaults_to_key
Costs: 20 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        key = query if key is None else key
        value = query if value is None else value
        return super().forward(query, key, value, mask)
