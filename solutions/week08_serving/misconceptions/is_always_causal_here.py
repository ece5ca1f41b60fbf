"""Hides the future without being asked to.

Exercise: grouped_query_attention
Believes: Serving is decoding, and decoding is causal.
Shows: With one query only the first key is seen.
Hint: What may be seen is the caller's business: the mask says it, and None hides nothing.
Rejected by: test_groups_of_neighbours
Costs: 35 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    causal = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()
    return _grouped(q, k, v, causal if mask is None else mask & causal)
