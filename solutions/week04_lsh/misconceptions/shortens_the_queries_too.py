"""Scales the queries to unit length as well as the keys.

Exercise: lsh_attention
Believes: Shared QK means that both are normalised.
Shows: All scores lie between -1/sqrt(d) and 1/sqrt(d), and attention is almost uniform.
Hint: A longer query should give sharper attention. Does it in yours?
Rejected by: test_only_the_direction_of_a_key_counts
Costs: 25 %
"""

_scores_of_any_length = _scores


def _scores(queries, keys, positions):
    return _scores_of_any_length(_unit_length(queries), keys, positions)
