"""Lets a position attend to itself as freely as to others.

Exercise: lsh_attention
Believes: Attending to oneself is harmless, as in ordinary attention.
Shows: Every position takes most of its output from itself.
Hint: Query and key are the same vector here. How large is a score with oneself compared to the
    others?
Rejected by: test_itself_comes_last
Costs: 25 %
"""


def _scores(queries, keys, positions):
    return queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
