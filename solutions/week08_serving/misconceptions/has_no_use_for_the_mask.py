"""Hides nothing, whatever the mask says.

Exercise: grouped_query_attention
Believes: While decoding everything is in the past, so there is nothing to hide.
Shows: Hidden keys have weight.
Hint: Prompts are fed at once, and batches are padded. Which of your scores or weights change
    where the mask is False?
Rejected by: test_mask_of_two_dimensions
Costs: 35 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v)
