"""Lets no gradient flow to keys and values.

Exercise: grouped_query_attention
Believes: What comes from a cache needs no gradient.
Shows: Keys and values get no gradient, so a model could not be trained with it.
Hint: The same function serves training. Who knows whether the keys come from a cache?
Rejected by: test_gradients
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k.detach(), v.detach(), mask)
