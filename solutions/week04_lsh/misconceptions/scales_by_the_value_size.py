"""Divides the scores by the square root of the size of the values.

Exercise: lsh_attention
Believes: All vectors of a head have the same size.
Shows: Right where values are as wide as queries.
Hint: Which vectors is the dot product taken over, and how many entries do they have?
Rejected by: test_values_of_different_size
Costs: 20 %
"""

_scale_by_head_size = lsh_attention


def lsh_attention(qk, v, rotations, bucket_size, causal=False):
    longer = qk * math.sqrt(
        qk.shape[-1] / v.shape[-1]
    )  # keys are unit vectors, so only the scores change
    return _scale_by_head_size(longer, v, rotations, bucket_size, causal)
