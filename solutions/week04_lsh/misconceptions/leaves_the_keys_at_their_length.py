"""Uses the keys without scaling them to unit length.

Exercise: lsh_attention
Believes: Shared QK means that keys and queries are the same vectors.
Shows: Long keys attract attention in any direction.
Hint: Hashing looks at the direction only. What must be taken out of the keys so that the scores do
    too?
Rejected by: test_only_the_direction_of_a_key_counts
Costs: 25 %
"""


def _unit_length(x):
    return x
