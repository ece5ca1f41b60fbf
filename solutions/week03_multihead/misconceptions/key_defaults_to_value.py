"""Takes the value for the key where only a value is given.

Exercise: MultiHeadAttention
Believes: keys and values always come from the same place.
Shows: right for all the usual calls; wrong for forward(query, value=…).
Hint: Read the two defaults in the docstring as two separate sentences: what does the key fall back to?
Rejected by: test_key_defaults_to_query
Costs: 15 %
"""

_RightMultiHeadAttention = MultiHeadAttention


class MultiHeadAttention(_RightMultiHeadAttention):
    def forward(self, query, key=None, value=None, mask=None):
        if key is None and value is not None:
            key = value
        return super().forward(query, key, value, mask)
