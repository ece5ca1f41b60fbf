"""Reads True in the mask as hidden.

Exercise: grouped_query_attention
Believes: A mask says what is masked.
Shows: Every query sees exactly the keys that it must not see.
Hint: True means may attend, in every week.
Rejected by: test_mask_of_two_dimensions
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    return _grouped(q, k, v, None if mask is None else ~mask)
