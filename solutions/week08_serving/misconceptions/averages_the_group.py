"""Returns one table of weights per group, the mean of its heads.

Exercise: grouped_query_attention
Believes: Heads that share keys share weights.
Shows: Weights of shape (B, H_kv, n, m).
Hint: The heads of a group share keys but have separate queries. How many tables are there?
Rejected by: test_groups_of_neighbours
Costs: 25 %
"""

_grouped = grouped_query_attention


def grouped_query_attention(q, k, v, mask=None):
    output, weights = _grouped(q, k, v, mask)
    return output, weights.unflatten(1, (k.shape[1], -1)).mean(2)
